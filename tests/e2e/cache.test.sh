#!/bin/bash
# `bustap cache` agrees with the slow simulator on a synthetic trace of four processors and on a real
# one, from raw records and from captures, in one thread and in two, with the optimum not known, counted and estimated.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

mkdir configurations
cat >configurations/default </dev/null
cat >configurations/small <<'END'
[level 1]
size = 4K
line = 32
ways = 1
split = no
END
cat >configurations/mesi <<'END'
[hierarchy]
coherence = mesi
classify = yes
[level 1]
size = 8K
ways = 4
split = yes
[level 2]
size = 64K
ways = 8
inclusion = inclusive
END
cat >configurations/moesi <<'END'
[hierarchy]
coherence = moesi
attributes = honour
[level 1]
size = 2K
ways = 2
replacement = plru
[level 2]
shared = no
size = 16K
ways = full
inclusion = inclusive
[level 3]
size = 96K
ways = 12
replacement = fifo
sub-block = 16
END
cat >configurations/mesif <<'END'
[hierarchy]
coherence = mesif
attributes = honour
classify = yes
[level 1]
size = 2K
ways = 2
split = yes
[level 2]
size = 64K
line = 128
ways = 8
inclusion = inclusive
END
cat >configurations/read <<'END'
[hierarchy]
coherence = mesi
readinv = read
END
cat >configurations/none <<'END'
[hierarchy]
coherence = none
END
cat >configurations/everything <<'END'
[hierarchy]
attributes = honour
classify = yes
flush = no
seed = 77
[level 1]
line = 16
ways = 3
size = 3K
split = yes
victim = 4
[data 1]
sub-block = 4
write = through
allocate = no
prefetch = tagged
[instruction 1]
prefetch = always
replacement = random
[level 2]
line = 64
size = 32K
ways = 4
replacement = random
prefetch = miss
END
cat >configurations/exclusive <<'END'
[level 1]
size = 4K
ways = 2
shared = yes
[level 2]
size = 16K
ways = 4
inclusion = exclusive
[level 3]
size = 64K
ways = 8
inclusion = exclusive
END
cat >configurations/policies <<'END'
[hierarchy]
seed = 5
[level 1]
size = 3K
ways = 4
replacement = ship
split = yes
[data 1]
replacement = nru
[level 2]
size = 24K
ways = 8
hash = xor
replacement = drrip
[level 3]
size = 48K
ways = 16
replacement = brrip
[level 4]
size = 160K
ways = full
replacement = lfu
END

# prefetchers NAME KIND: a hierarchy with a prefetcher of this kind in each of its caches
prefetchers() {
    cat >"configurations/$1" <<END
[level 1]
size = 4K
ways = 2
split = yes
prefetcher = $2
[instruction 1]
page = none
[data 1]
degree = 3
distance = 2
prefetch-latency = 6
[level 2]
size = 32K
ways = 4
replacement = srrip
prefetcher = $2
degree = 2
page = 8K
prefetch-latency = 1
END
}
for kind in next stride stream markov; do
    prefetchers "$kind" "$kind"
done
prefetchers coherent_stream stream
sed -i -e '1i [hierarchy]\ncoherence = moesi\nclassify = yes' configurations/coherent_stream
cat >configurations/some_prefetchers <<'END'
[hierarchy]
coherence = mesi
[level 1]
size = 4K
ways = 4
split = yes
[instruction 1]
prefetcher = next
[data 1]
prefetch = miss
[level 2]
size = 64K
ways = 1
hash = xor
[level 3]
size = 192K
ways = 12
prefetcher = stride
distance = 4
END

# columns: the cells of a report as CSV that slow_cache_report has: no miss ratios, no kinds by the caches' own policies
columns() {
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) left_out[i] = $i ~ /^(miss_ratio|own_capacity|own_conflict)$/; next }
        { line = $1; for (i = 2; i <= NF; i++) if (!left_out[i]) line = line OFS $i; print line }'
}

# said OPTION... TRACE: the report without miss ratios, in the format of slow_cache_report
said() {
    bustap cache "$@" --csv | columns
    bustap cache "$@" --json --lines 1000000 >said.json
    jq -r '.memory[] | "memory,\(.kind),\(.references),\(.bytes),\(.uncached),\(.write_combining)"' said.json
    jq -r '.lines // [] | .[] | "line,\(.address),\(.invalidations),\(.interventions),\(.upgrades)," +
        "\(.snoop_write_backs),\(.true_sharing),\(.false_sharing)"' said.json
}

# json_prefetchers: the use of prefetches in said.json, in the order of prefetchers_wanted
json_prefetchers() {
    jq -r '.traffic[] | select(.prefetch_accuracy != null) | [.level, .cache, .processor, .prefetch_covered,
        .prefetch_late, .prefetch_useless, .prefetched_bytes, .prefetch_accuracy, .prefetch_coverage] | @csv' said.json |
        tr -d '"' | sort
}

# prefetchers_wanted REPORT: the use of prefetches of each cache that prefetches
prefetchers_wanted() {
    grep -e '^[1-4],' "$1" | awk -F, -v OFS=, '$4 == "all" && $(NF - 1) != "" {
        print $1, $2, $3, $(NF - 5), $(NF - 4), $(NF - 3), $(NF - 2), $(NF - 1), $NF }' | sort
}

# compare TRACE OPERAND...: the operands contain the trace
compare() {
    local trace=$1 configuration name optimum wanted
    shift
    for configuration in configurations/*; do
        name=${configuration#*/}
        for optimum in count:--optimum estimate: none:--no-optimum; do
            wanted=$trace.$name.${optimum%:*} # of the same trace in another file, too
            [ -e "$wanted" ] || slow_cache_report "${optimum%:*}" "$configuration" "$trace" | sort >"$wanted"
            [ "$(wc -l <"$wanted")" -ge 6 ] || { cat "$wanted"; exit 1; }
            said --config "$configuration" ${optimum#*:} "$@" | sort >got.txt
            diff "$wanted" got.txt || { echo "$name differs for $*, optimum: ${optimum%:*}"; exit 1; }
        done
        if grep -q prefetcher "$configuration"; then
            prefetchers_wanted "$wanted" >use.txt
            [ -s use.txt ] || { echo "$name prefetches nothing in $*"; exit 1; }
            diff use.txt <(json_prefetchers) || { echo "$name differs as JSON for $*"; exit 1; }
        fi
        case $name in
        default | small | exclusive | read | none)
            bustap cache --no-optimum --config "$configuration" -j 2 "$@" --csv | columns >threads.txt
            diff <(sort threads.txt) <(grep -v -e '^memory' -e '^line' "$wanted") ||
                { echo "$name differs for $* in two threads"; exit 1; }
            ;;
        esac
    done
}

make_trace --types all --seed 3 20000 >made.byu
compare made.byu made.byu
gzip -k made.byu
compare made.byu made.byu.gz

trace=$SHARED/data/pentium2.byu
[ -n "$SHARED" ] && [ -f "$trace" ] || exit 0
head -c 280020 "$trace" >real.byu
compare real.byu real.byu
bustap capture --quiet --board "virtual:replay=$trace" -o p2 --rotate size=40K
compare real.byu p2_*.byu.gz
