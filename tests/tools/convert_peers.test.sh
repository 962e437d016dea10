#!/bin/bash
# Other programs read what convert writes, and convert reads what they write: NumPy, protobuf's own
# compiler, valgrind's lackey. Missing programs are skipped.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
make_trace --types all 3000 >trace.byu
checked=0

# --- NumPy: bytes, names of fields, count ---
if [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    checked=$((checked + 1))
    bustap convert --force trace.byu -o trace.npy
    bustap convert --force trace.byu --to npy -o - | cmp - trace.npy
    bustap convert --force trace.byu -o trace.npy.gz
    gzip -dc trace.npy.gz | cmp - trace.npy
    cat >check.py <<'END'
import numpy

trace = numpy.load('trace.npy')
assert trace.tobytes() == open('trace.byu', 'rb').read()
assert trace.dtype.names == ('address', 'type', 'size', 'attribute', 'processor', 'time')
assert trace.shape == (3000,)
# other widths, another order, an unknown field
wide = numpy.zeros(3000, dtype=[('time', '<u8'), ('note', 'S5'), ('processor', '<i4'), ('size', '<u2'),
                                ('attribute', 'u1'), ('type', '<u4'), ('address', '<u8')])
for name in trace.dtype.names:
    wide[name] = trace[name]
numpy.save('wide.npy', wide)
numpy.save('plain.npy', numpy.arange(10))
numpy.save('big.npy', numpy.zeros(9, dtype=[('address', '>u4'), ('type', 'u1')]))
END
    /usr/bin/python3 check.py
    bustap convert --force wide.npy -o again.byu
    cmp again.byu trace.byu
    for bad in plain.npy big.npy; do
        status=0
        bustap convert --force $bad -o bad.byu 2>why || status=$?
        [ $status = 1 ]
        grep -Eq "$bad: offset 0: its (elements have no fields|address is not a little-endian)" why
    done
fi

# --- protobuf: every message of a gem5 trace, field by field ---
if command -v protoc >/dev/null && command -v perl >/dev/null; then
    checked=$((checked + 1))
    make_trace 3 >short.byu
    bustap convert --force short.byu -o short.gem5 2>/dev/null
    cat >split.pl <<'END'
open my $file, '<:raw', 'short.gem5' or die;
local $/;
my $bytes = <$file>;
die unless substr($bytes, 0, 4) eq 'gem5';
for (my ($at, $n) = (4, 0); $at < length $bytes; $n++) {
    my $length = ord substr $bytes, $at, 1;
    open my $out, '>:raw', "message$n" or die;
    print $out substr $bytes, $at + 1, $length;
    close $out;
    $at += 1 + $length;
}
END
    perl split.pl
    for number in 0 1 2 3; do
        protoc --decode_raw <message$number
    done >decoded
    bustap dump --csv short.byu | awk -F, '
        BEGIN { print "1: \"bustap\"\n3: 1000000000000" }
        NR > 1 {
            split("FETCH MEMREAD MEMREADINV MEMWRITE", names, " ")
            split("1 1 22 4", commands, " ")
            for (i = 1; i <= 4; i++) if (names[i] == $4) command = commands[i]
            flags = ($4 == "FETCH" ? 256 : 0) + ($6 % 4 == 0 ? 1024 : 0)
            print "1: " $2 "\n2: " command "\n3: " $3 "\n4: " $5
            if (flags) print "5: " flags
            print "6: " $7
        }' >wanted
    # dump prints addresses in hexadecimal
    while read -r key value; do
        case $value in
        0x*) echo "$key $((value))" ;;
        *) echo "$key $value" ;;
        esac
    done <wanted | diff - decoded
fi

# --- lackey: the trace of a real program, and back ---
if command -v valgrind >/dev/null; then
    checked=$((checked + 1))
    valgrind --tool=lackey --trace-mem=yes --log-file=true.lackey /bin/true
    bustap convert --force --wrap true.lackey -o true.byu 2>err
    grep -q "true.lackey: valgrind's own lines left out: " err
    bustap convert --force true.byu --to lackey -o again.lackey 2>/dev/null
    # a modification becomes a load and a store; addresses keep 32 bits, with leading zeros
    awk '/^==/ { next }
        {
            split($2, part, ",")
            address = substr("00000000" part[1], length(part[1]) + 1)
            kinds = $1 == "M" ? "LS" : $1
            for (i = 1; i <= length(kinds); i++) {
                kind = substr(kinds, i, 1)
                print (kind == "I" ? "I  " : " " kind " ") address "," part[2]
            }
        }' true.lackey | cmp - again.lackey
fi

[ $checked -gt 0 ] || { echo "NumPy, protoc and valgrind are missing"; exit 77; }
