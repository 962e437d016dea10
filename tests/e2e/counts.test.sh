#!/bin/bash
# Every count of info equals an independent count, for one file, a set of files and a filter.
set -eu

bustap capture --quiet --board virtual:smp=4,seed=3,requests=200000 -o all
bustap capture --quiet --board virtual:smp=4,seed=3,requests=200000 -o rolled --rotate size=100K
bustap capture --quiet --board virtual:smp=4,seed=3,requests=200000 -o some \
    --filter 'type=MEMREAD|MEMWRITE and processor=1-2 and address!=0x0-0xfffff'

# type, processor and size of each record in decimal, by od
fields() {
    zcat "$@" | od -An -v -tu1 -w12 | awk '{ print $5, $8, $6, $1 + 256 * ($2 + 256 * ($3 + 256 * $4)) }'
}

# the output of info as lines "kind value count"
reported() {
    bustap info --json "$@" | jq -r '
        {FETCH:0, MEMREAD:1, MEMREADINV:2, MEMWRITE:3, IOREAD:16, IOWRITE:17, DEFERREPLY:32, INTA:33,
         CNTRLAGNTRES:34, BRTRACEREC:35, SHUTDOWN:49, FLUSH:50, HALT:51, SYNC:52, FLUSHACK:53,
         STOPCLKACK:54, SMIACK:55} as $types |
        (.by_type | to_entries[] | select(.value > 0) | "type \($types[.key]) \(.value)"),
        (.by_processor | to_entries[] | select(.value > 0) | "processor \(.key) \(.value)"),
        (.by_size | to_entries[] | select(.value > 0) | "size \(.key) \(.value)")' | sort
}

counted() {
    fields "$@" | awk '
        { type[$1]++; processor[$2]++; size[$3]++ }
        END {
            for (i in type) print "type", i, type[i]
            for (i in processor) print "processor", i, processor[i]
            for (i in size) print "size", i, size[i]
        }' | sort
}

for name in all rolled some; do
    diff <(reported ${name}_*.byu.gz) <(counted ${name}_*.byu.gz)
    records=$(($(zcat ${name}_*.byu.gz | wc -c) / 12))
    ticks=$(bustap info --json ${name}_*.byu.gz | jq '.last_tick - .first_tick')
    sum=$(zcat ${name}_*.byu.gz | od -An -v -tu4 -w12 | awk 'NR > 1 { sum += $3 } END { printf "%d", sum }')
    [ "$ticks" = "$sum" ] || { echo "$name: $ticks ticks, $sum summed up"; exit 1; }
    [ "$(bustap info --json ${name}_*.byu.gz | jq .records)" = "$records" ]
    bustap verify ${name}_*.byu.gz >/dev/null
done
[ "$(bustap info --json all_*.byu.gz | jq .records)" = 200000 ]
[ "$(ls rolled_* | wc -l)" -ge 4 ]
cmp <(zcat all_*.byu.gz) <(zcat rolled_*.byu.gz)

# a capture with a filter equals the filtered whole capture
diff <(fields some_*.byu.gz) \
    <(fields all_*.byu.gz | awk '($1 == 1 || $1 == 3) && ($2 == 1 || $2 == 2) && $4 > 1048575')
[ "$(zcat some_*.byu.gz | wc -c)" -gt 0 ]
