#!/bin/bash
# A real trace passes through all commands, in one file and in several, and is unchanged byte for byte.
set -eu
trace=$SHARED/data/pentium2.byu
[ -n "$SHARED" ] && [ -f "$trace" ] || { echo "no real trace here"; exit 77; }

head -c 280020 "$trace" >records.byu
bustap capture --quiet --board "virtual:replay=$trace" -o one/p2
zcat one/p2_*.byu.gz | cmp - records.byu
bustap capture --quiet --board "virtual:replay=$trace" -o many/p2 --rotate size=20K
[ "$(ls many | wc -l)" -ge 4 ] || { ls -l many; exit 1; }
zcat many/p2_*.byu.gz | cmp - records.byu
bustap verify one/p2_*.byu.gz many/p2_*.byu.gz
[ "$(bustap info --json many/p2_*.byu.gz | jq -c '[.records, .lost, .complete]')" = '[23335,0,true]' ]

# the text equals that of the original for each path
bustap dump records.byu >wanted.txt
b2a one/p2_*.byu.gz | cmp - wanted.txt
zcat many/p2_*.byu.gz | b2a | cmp - wanted.txt
bustap dump --skip 20000 --count 100 many/p2_*.byu.gz | cmp - <(sed -n '20001,20100p' wanted.txt)
