#!/bin/bash
# A ring of three files keeps the last three, complete. It belongs to the prefix and spans captures.
set -eu

bustap capture --board virtual:smp=2,requests=400000 -o ring --rotate size=100K --keep 3 --print-names \
    2>/dev/null >names
[ "$(wc -l <names)" -gt 6 ] || { cat names; exit 1; }
tail -n 3 names >last
ls ring_* >there
cmp last there || { cat there; exit 1; }
bustap verify ring_*.byu.gz >verdict || { cat verdict; exit 1; }
grep -q 'removed by the ring of 3' verdict || { cat verdict; exit 1; }

# other files than complete ones of this prefix neither count nor are removed
mkdir over
capture() { bustap capture -q --board virtual:smp=2 --rotate size=20K -o over/r --append "$@"; }
capture --stop files=2 && cp over/r_00001_* over/r-p1_00001_20200101T000000Z.byu.gz
mv over/r_00001_* "over/r_00001_20200101T000000Z.byu.gz.part" && rm over/r_00002_*
ln -s ../ring_00001 over/r_00001_20200102T000000Z.byu.gz
mkfifo over/r_00001_20200103T000000Z.byu.gz
mkdir over/r_00001_20200104T000000Z.byu.gz
seq 1000 | gzip >over/r_00001_20200105T000000Z.byu.gz
touch over/r_1_20200101T000000Z.byu.gz over/r_00001_20200101T000000Z.byu.gz.bak
ls over >others
ours() { ls over | grep -vxFf others; }
captured() { ours | sed 's/_2.*//' | xargs; }
judge() { # the files whose names are on standard input, by both verifiers
    local paths verified=0 second=0
    mapfile -t paths
    bustap verify "${paths[@]/#/over/}" "$@" >verdict 2>&1 || verified=$?
    python3 "$TOP/tests/support/second_verifier.py" "${paths[@]/#/over/}" "$@" >verdict.second || second=$?
    [ "$verified" -eq "$second" ] || { echo "they do not agree: "; cat verdict verdict.second; exit 1; }
    return "$verified"
}

# the files of earlier captures are removed first, and reported correctly
capture --keep 5 --stop files=8
[ "$(captured)" = 'r_00004 r_00005 r_00006 r_00007 r_00008' ] || { captured; exit 1; }
sleep 1 # so that names are in the order of the captures
capture --keep 5 --stop files=2
[ "$(captured)" = 'r_00001 r_00002 r_00006 r_00007 r_00008' ] || { captured; exit 1; }
ours | judge || { cat verdict; exit 1; }
grep -q 'files 1 to 5, with [0-9]* requests, were removed by the ring of 5' verdict || { cat verdict; exit 1; }
# neither missing later files nor files of another prefix prove a ring
! ours | grep '_0000[678]_' | judge || { cat verdict; exit 1; }
grep -q '^INCOMPLETE: files 1 to 5 are missing, and a ring of 5 has room for more' verdict || { cat verdict; exit 1; }
mkdir elsewhere
ours | grep '_0000[12]_' | sed 's,^,over/,' | xargs cp -t elsewhere
! ours | grep '_0000[678]_' | judge elsewhere/* || { cat verdict; exit 1; }

# a smaller ring, and one that removes files of a capture without a ring
capture --keep 1 --stop files=2
[ "$(captured)" = r_00002 ] || { captured; exit 1; }
ours | judge || { cat verdict; exit 1; }
sleep 1
capture --stop files=3
[ "$(captured)" = 'r_00001 r_00002 r_00002 r_00003' ] || { captured; exit 1; }
sleep 1
capture --keep 4 --stop files=2
[ "$(captured)" = 'r_00001 r_00002 r_00002 r_00003' ] || { captured; exit 1; }
ours | judge || { cat verdict; exit 1; }
grep -q 'files 1 to 1, .*, were removed by the ring of 4' verdict || { cat verdict; exit 1; }
ls over | grep -xFf others | diff others -
