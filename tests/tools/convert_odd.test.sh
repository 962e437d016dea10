#!/bin/bash
# bustap convert with unusual input: unsupported compression, arrays of wide fields, times that do
# not fit, different clocks, invalid names.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# status_is STATUS COMMAND...: out, err
status_is() {
    local wanted=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || { echo "$*: status $status"; cat err; exit 1; }
}

make_trace 500 >trace.byu

# unsupported compression is refused
bzip2 -k trace.byu
status_is 3 bustap convert --force trace.byu.bz2 --to csv -o -
grep -q 'trace.byu.bz2 is compressed with bzip2' err
status_is 3 bustap mrc trace.byu.bz2
{ printf '\x28\xb5\x2f\xfd\x64'; cat trace.byu; } >trace.byu.zst
status_is 3 bustap cache trace.byu.zst
grep -q 'compressed with zstd' err
bustap convert --force trace.byu --to din -o trace.din.BZ2 2>/dev/null
bustap convert --force trace.din.BZ2 --to din -o - 2>/dev/null | cmp - <(bustap convert trace.byu --to din -o - 2>/dev/null)
status_is 2 bustap convert --force trace.byu -o trace.din.xz
[ ! -e trace.din.xz ]
status_is 2 bustap convert --force trace.byu --to din -o ''

# options that contradict each other
status_is 2 bustap convert --force trace.byu --to lackey --sizes -o -
status_is 2 bustap mrc --from din --lp64 trace.byu
status_is 2 bustap plot --from din --lp64 --csv trace.byu

# times since the record before include those of omitted records
printf 'address,type,time\n1,FETCH,5\n0x100000000,FETCH,7\n2,FETCH,9\n3,FETCH,4294967296\n' >between.csv
bustap convert --force between.csv --to csv -o - 2>/dev/null | cmp - <(
    echo index,tick,address,type,size,attribute,processor,time
    echo 0,5,0x00000001,FETCH,0,3,0,5
    echo 1,21,0x00000002,FETCH,0,3,0,16
    echo 2,4294967317,0x00000003,FETCH,0,3,0,4294967295)
for format in byu byu-lp64 npy; do
    bustap convert --force between.csv --to $format -o out 2>err
    grep -q "times between two requests limited to the largest: 1 ($format has 32 bits for them)" err
    bustap convert --force --from $format out --to csv -o - | tail -n 1 | grep -qx '2,4294967316,.*,4294967295'
done
bustap convert --force between.csv --to csv -o whole.csv 2>err
if grep -q 'largest' err; then exit 1; fi

# the index continues from trace to trace
bustap convert --force --concatenate trace.byu trace.byu --to csv -o - | awk -F, 'NR > 1 && $1 != NR - 2 { print; exit 1 }'

# an array with fields wider than a record's, and with floating-point fields
array() { # DESCRIPTION ELEMENTS
    local head="{'descr': [$1], 'fortran_order': False, 'shape': ($2,), }"
    printf '\x93NUMPY\x01\x00'
    printf "\\x$(printf %02x ${#head})\\x00%s" "$head"
}
{
    array "('address', '<u4'), ('type', '<u2'), ('processor', '<u2')" 3
    printf '\x10\0\0\0\x01\0\x02\0' # 0x10 MEMREAD of 2
    printf '\x20\0\0\0\x00\x01\x02\0'
    printf '\x30\0\0\0\x03\0\x00\x01'
} >wide.npy
status_is 1 bustap convert --force wide.npy --to csv -o wide.csv
grep -q 'its type is not a number' err
grep -q 'processors above 255 limited to 255: 1' err
cut -d, -f 3,4,7 wide.csv | cmp - <(printf 'address,type,processor\n0x00000010,MEMREAD,2\n0x00000030,MEMWRITE,255\n')
{ array "('address', '<u4'), ('type', '|u1'), ('time', '<f8')" 0; } >real.npy
status_is 1 bustap convert --force real.npy --to csv -o -
grep -q 'its time is not a little-endian integer' err

# negative numbers
{ array "('address', '<i4'), ('type', '|i1'), ('time', '<i2')" 3 && printf '\x10\0\0\0\x01\x05\0\x20\0\0\0\x01\xff\xff\x30\0\0\xff\x01\x01\0'; } >negative.npy
status_is 1 bustap convert --force negative.npy --to csv -o negative.csv
grep -q 'its time is negative' err
grep -q 'its address is negative' err
tail -n +2 negative.csv | cmp - <(echo 0,5,0x00000010,MEMREAD,0,3,0,5)

# duplicate columns in a heading
printf 'address,type,Address\n0x10,MEMREAD,0x20\n' >twice.csv
status_is 1 bustap convert --force twice.csv --to csv -o out.csv
grep -q 'twice.csv: line 1: duplicate column address in the heading' err
[ "$(wc -l <out.csv)" = 1 ]
printf 'time,object,id,op\n0,10,20,read\n' >twice.csv
status_is 1 bustap mrc twice.csv
grep -q 'twice.csv: line 1: column 3 of the heading is a duplicate' err

# a duplicate field, and a duplicate key in the header
{ array "('address', '<u4'), ('type', '|u1'), ('Address', '<u4')" 0; } >twice.npy
status_is 1 bustap convert --force twice.npy --to csv -o -
grep -q 'duplicate field address' err
head="{'descr': [('address', '<u4'), ('type', '|u1')], 'shape': (0,), 'shape': (1,), 'fortran_order': False, }"
printf '\x93NUMPY\x01\x00'"\\x$(printf %02x ${#head})\\x00%s" "$head" >twice.npy
status_is 1 bustap convert --force twice.npy --to csv -o -
grep -q 'must contain one shape' err

# units of time need one clock for all traces
status_is 2 bustap convert --force trace.byu --to oracle --time-unit us -o out.oracle
[ ! -e out.oracle ]
bustap convert --force trace.byu --to libcachesim-csv --time-unit tick -o trace.lcs.csv 2>/dev/null
printf 'time,object,size,operation\n1,1,64,read\n' >one.lcs.csv
bustap convert --force --time-unit us one.lcs.csv -o clock.gem5
bustap convert --force --concatenate clock.gem5 trace.byu --to libcachesim-csv -o - 2>err >/dev/null
grep -q 'different clocks' err

# din with an instruction's name after each address, as disassemblers write it: names that look like
# hexadecimal numbers are not sizes; the results equal those of the file without names
bustap convert --force trace.byu --to din -o plain.din 2>/dev/null
awk '{ split("add dead c 8 lw bee ff sub", name, " "); print $0, name[NR % 8 + 1] }' plain.din >named.din
bustap convert --force named.din --to byu -o named.byu
bustap convert --force plain.din --to byu -o plain.byu
cmp named.byu plain.byu
bustap convert --force named.byu --to din -o - | cmp - plain.din
bustap cache --json named.din >named.json
bustap cache --json plain.din | sed 's/plain/named/g' | cmp - named.json
# each reference is one aligned word of 4 bytes, as in Dinero
printf '0 1f\n0 20\n1 3d\n' >unaligned.din
printf '0 1c\n0 20\n1 3c\n' >aligned.din
bustap cache --json unaligned.din | sed 's/unaligned/aligned/g' >unaligned.json
bustap cache --json aligned.din | cmp - unaligned.json

# if killed, it leaves no file, provided that the file system has unnamed files
mkfifo pipe
bustap convert --force --from din pipe -o killed.byu &
converter=$!
exec 3>pipe
echo 0 10 >&3
for ((i = 0; i < 1000; i++)); do
    ls -l /proc/$converter/fd >files 2>/dev/null || true # a file may be closed meanwhile
    if grep -q -e deleted -e part- files; then break; fi
    sleep 0.01
done
kill -KILL $converter
exec 3>&-
wait $converter || true
grep -q part- files || [ -z "$(find . -name 'killed*')" ]
