#!/bin/sh
# Virtual boards through the whole capture: replayed records are captured unchanged, damage in the replayed file is reported.
set -eu
records() {
    zcat "$@" >records.raw && cat records.raw
}

# A capture of a workload, replayed, is the same capture; whatever its packing.
bustap capture --quiet --board virtual:smp=3,seed=4,requests=60000 -o a
records a_*.byu.gz >a.byu
[ "$(wc -c <a.byu)" -eq 720000 ]
for packing in plain delta; do
    bustap capture --quiet --packing $packing --board "virtual:replay=$(echo a_*.byu.gz)" -o "b$packing"
    records b"$packing"_*.byu.gz | cmp - a.byu
done
bustap verify a_* bplain_* bdelta_* >/dev/null

# In a loop, for a number of requests.
bustap capture --quiet --board virtual:replay=a.byu,loop,requests=150000 -o c
cat a.byu a.byu a.byu | head -c 1800000 | cmp - "$(records c_*.byu.gz >c.byu && echo c.byu)"

# At a rate above that of this machine: all records are captured, or the lost ones are counted.
bustap capture --quiet --board virtual:smp=2,requests=20000,rate=200k -o d || [ $? -eq 1 ]
bustap verify d_* >/dev/null

# A record that cannot be a request: the records before it are captured, its number is reported.
{
    head -c 1200 a.byu
    printf '\000\000\000\000\377\000\000\000\000\000\000\000'
    tail -c +1213 a.byu
} >bad.byu
status=0
bustap capture --quiet --board virtual:replay=bad.byu -o e 2>message || status=$?
cat message
[ "$status" -ne 0 ]
grep -q 'record 100 of bad.byu cannot be a P6 request: its request type' message
records e_*.byu.gz | cmp - "$(head -c 1200 a.byu >head.byu && echo head.byu)"

# Invalid specifications are reported before any file is created.
for bad in virtual:smp=99 virtual:replay=none.byu virtual:tape usb0 virtual:smp=1,rate=-1; do
    status=0
    bustap capture --quiet --board $bad -o f 2>message || status=$?
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    [ "$(wc -l <message)" -eq 1 ]
done
! ls f_* 2>/dev/null || exit 1
