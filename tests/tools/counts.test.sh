#!/bin/bash
# Every count of `bustap info` equals that of od and awk on the output of zcat.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# counts TRACE FIELD: "VALUE COUNT" lines; field 5 is the type, 6 the size, 8 the processor (from 1)
counts() {
    od -An -v -t u1 -w12 "$1" | awk -v field="$2" '{ n[$field]++ } END { for (v in n) print v, n[v] }' |
        sort -n
}

type_number() {
    case $1 in
    FETCH) echo 0 ;; MEMREAD) echo 1 ;; MEMREADINV) echo 2 ;; MEMWRITE) echo 3 ;;
    IOREAD) echo 16 ;; IOWRITE) echo 17 ;; DEFERREPLY) echo 32 ;; INTA) echo 33 ;;
    CNTRLAGNTRES) echo 34 ;; BRTRACEREC) echo 35 ;; SHUTDOWN) echo 49 ;; FLUSH) echo 50 ;;
    HALT) echo 51 ;; SYNC) echo 52 ;; FLUSHACK) echo 53 ;; STOPCLKACK) echo 54 ;; SMIACK) echo 55 ;;
    *) echo $(($1)) ;;
    esac
}

# check TRACE FILE...: info of the files equals the counts of the raw records in TRACE
check() {
    local trace=$1 records
    shift
    records=$(($(wc -c <"$trace") / 12))
    bustap info --json "$@" >info.json 2>info.err
    [ "$1" != --raw ] || shift
    [ "$(jq .records info.json)" = "$records" ]
    [ "$(jq .raw_bytes info.json)" = "$((records * 12))" ]
    [ "$(jq .compressed_bytes info.json)" = "$(cat "$@" | wc -c)" ]
    [ "$(jq .files info.json)" = "$#" ]
    head -c "$((records * 12))" "$trace" >whole
    jq -r '.by_type | to_entries[] | "\(.key) \(.value)"' info.json |
        while read -r name count; do echo "$(type_number "$name") $count"; done | sort -n |
        diff - <(counts whole 5)
    jq -r '.by_size | to_entries[] | "\(.key) \(.value)"' info.json | sort -n | diff - <(counts whole 6)
    jq -r '.by_processor | to_entries[] | "\(.key) \(.value)"' info.json | sort -n |
        diff - <(counts whole 8)
}

make_trace --types all --tail 5 20001 >t.byu
check t.byu t.byu
gzip -k t.byu
check t.byu t.byu.gz
head -c 12000 /dev/urandom >noise.byu
check noise.byu --raw noise.byu
make_capture files=3 file_records=7000 block_records=999 bus=7 queue=2 p
zcat p_?.byu.gz >p.byu
check p.byu p_2.byu.gz p_3.byu.gz p_1.byu.gz
[ "$(jq .lost info.json)" = 27 ]
[ "$(jq -c .lost_by_stage info.json)" = '{"bus":21,"link":0,"queue":6,"disk":0}' ]
# without losses, the last tick is the sum of all times
make_capture seed=3 files=2 file_records=5000 q
sum=$(zcat q_?.byu.gz | od -An -v -t u4 -w12 | awk '{ sum += $3 } END { print sum }')
[ "$(bustap info --json q_?.byu.gz | jq .last_tick)" = "$sum" ]

trace=${SHARED:+$SHARED/data/pentium2.byu}
[ -z "$trace" ] || [ ! -f "$trace" ] || check "$trace" "$trace"
