#!/bin/bash
# Simulated curves have the misses that bustap cache counts, for each policy and size: of a real trace if there is one,
# else of a made one.
set -eu
PATH="$BUILD/tests/e2e:$PATH"
trace=$SHARED/data/pentium2.byu
if [ -z "$SHARED" ] || [ ! -f "$trace" ]; then
    make_trace 20000 >made.byu
    trace=made.byu
fi
for policy in fifo random plru nru srrip brrip drrip ship lfu; do
    bustap mrc -j 2 --replacement "$policy" --csv "$trace" >curve.csv 2>mrc.err
    # columns: ... sets,ways,bytes,references,compulsory,misses,ratio
    while IFS=, read -r _ _ _ _ _ _ ways bytes references _ misses _; do
        [ "$ways" != ways ] || continue
        bustap cache --no-optimum --l1 "$bytes,ways=full,shared,replacement=$policy" --json "$trace" 2>cache.err |
            jq -r '[.caches[] | select(.kind == "all")][0] | "\(.references) \(.misses)"' >counts
        [ "$(cat counts)" = "$references $misses" ] ||
            { echo "$policy, $bytes bytes: mrc counts $references $misses, cache $(cat counts)"; exit 1; }
    done <curve.csv
    [ "$(wc -l <curve.csv)" -ge 5 ] || { echo "$policy has few sizes"; cat curve.csv; exit 1; }
done
# threads and their number do not matter
for threads in 1 3; do
    bustap mrc -j "$threads" --replacement srrip --by kind --points 4 --csv "$trace" >"srrip.$threads" 2>mrc.err
done
cmp srrip.1 srrip.3
