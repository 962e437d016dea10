#!/bin/sh
# A ring of three: the last three files of many are there, and they are whole.
set -eu

bustap capture --board virtual:smp=2,requests=400000 -o ring --rotate size=100K --keep 3 --print-names \
    2>/dev/null >names
[ "$(wc -l <names)" -gt 6 ] || { cat names; exit 1; }
tail -n 3 names >last
ls ring_* >there
cmp last there || { cat there; exit 1; }
bustap verify ring_*.byu.gz >verdict || { cat verdict; exit 1; }
grep -q 'removed by the ring of 3' verdict || { cat verdict; exit 1; }
