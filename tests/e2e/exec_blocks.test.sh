#!/bin/bash
# --engine blocks: the same records as the default engine's, with the same marks, gaps and threads, in files that
# only bustap reads.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
fail() {
    echo "$*"
    exit 1
}
for program in turns threads faults modify changing pending; do
    gcc -O1 -w -pthread -o $program "$TOP/tests/capture/programs/$program.c"
done

# facts FILE...: what info says of each, except sizes, names and times of day; and what dump prints
facts() {
    local file
    for file in "$@"; do
        bustap info --json "$file" | jq -c '[.records, .lost, .captures, .first_tick, .last_tick, .by_type,
            .by_processor, .by_size, .gaps, .chosen_gaps, .gap_places, .windows, .first_index, .source, .end] |
            del(.. | .path?, .file?)'
        bustap dump -n 50K "$file" 2>/dev/null
        bustap convert -q --to byu -o - "$file"
    done
}

# same_caches NAME OPTION...: the caches of both engines' captures
same_caches() {
    local name=$1 engine
    shift
    for engine in programs blocks; do
        bustap cache --concatenate --json "$@" $engine*.by[ub]* >$engine-caches 2>/dev/null || [ $? -eq 1 ]
    done
    grep -q '"misses"' blocks-caches || fail "$name: no caches"
    cmp programs-caches blocks-caches || fail "$name: caches differ: $*"
}

# both NAME OPTION... -- COMMAND...: captures twice; the streams are the same, bit for bit
both() {
    local name=$1 engine
    shift
    rm -f ./*.byu.gz ./*.byb
    for engine in programs blocks; do
        bustap exec -q --engine $engine -o $engine "$@" >output-$engine 2>&1 </dev/null || [ $? -lt 128 ]
    done
    [ -z "$(ls blocks*.byu.gz programs*.byb 2>/dev/null)" ] || fail "$name: names"
    bustap verify blocks*.byb >/dev/null || fail "$name: verify"
    cmp <(facts programs*.byu.gz) <(facts blocks*.byb) || fail "$name: differs"
    for engine in programs blocks; do
        rm -f graph.json
        bustap dcfg build --concatenate -o graph.json $engine*.by[ub]* >$engine-graph 2>&1 || [ $? -eq 1 ]
        sed -i "s/${engine}[-_][^ :]*/FILE/g" $engine-graph
        [ ! -e graph.json ] || cat graph.json >>$engine-graph
    done
    cmp programs-graph blocks-graph || fail "$name: graphs differ"
    same_caches "$name" -j 1 --l1 4K,line=64,ways=4,split --l2 64K,line=64,ways=8
    same_caches "$name" -j 1 --l1 2K,line=32,ways=2
}

head -c 3000 "$TOP/README.md" >input
both "a program" -- gzip -9 -c input
[ $((50 * $(stat -c %s blocks*.byb))) -lt "$(bustap convert -q --to byu -o - blocks*.byb | wc -c)" ] ||
    fail "$(ls -l blocks*.byb)"
for options in "--warm 5000" "--interval 30K" "--by instruction" "--tlb default" "--classify" "--skip 1000 --count 50000" \
    "--filter type=FETCH" "--time 1000ticks.." "--coherence moesi" "--optimum" "--no-optimum" "--attr honour" "--l2 64K,inclusive"; do
    # shellcheck disable=SC2086 # options are several words
    same_caches "a program" -j 1 --l1 4K,line=64,ways=4,split $options
done
same_caches "a program" -j 2 --l1 4K,line=64,ways=4,split
! zcat blocks*.byb >/dev/null 2>messages || fail "zcat reads it"
both "repetitions" --rep -- gzip -c input
both "fetches" --only-fetch -- gzip -c input
both "data" --only-data -- gzip -c input
both "a filter" --filter 'type=MEMWRITE or address=0x400000-0x4fffff' -- gzip -c input
# small files, of small members
bustap exec -q --engine blocks --count 2M --rotate size=20K -o small -- gzip -9 -c "$TOP/doc/benchmarks.md" >/dev/null
bustap exec -q --count 2M -o whole -- gzip -9 -c "$TOP/doc/benchmarks.md" >/dev/null
[ "$(ls small*.byb | wc -l)" -gt 5 ] || fail "rotation"
bustap verify small*.byb >/dev/null || fail "rotation: verify"
cmp <(zcat whole*.byu.gz) <(bustap convert -q --to byu -o - small*.byb) || fail "rotation: records differ"
# a killed capture is whole up to its last member, and so is a repaired one
cp "$(ls small*.byb | head -n 1)" cut.byb
truncate -s -4000 cut.byb
bustap recover -o repaired.byb cut.byb || [ $? -eq 1 ]
bustap verify repaired.byb || [ $? -eq 1 ]
bustap convert -q --to byu -o - repaired.byb >repaired
[ -s repaired ] && cmp repaired <(zcat whole*.byu.gz | head -c "$(stat -c %s repaired)") || fail "repaired"
both "limits" --skip 77777 --count 123457 -- gzip -c input
both "small members" --queue 64K -j 1 --count 200K -- gzip -c input
both "a full queue" --queue 1 -j 1 --count 20K --sample 7/5 -- gzip -c input
both "calls" --calls main --count 300K -- ./turns b 30
both "parts" --sample 100/300 --skip 5000 --count 50000 -- gzip -c input
both "many parts" --sample 1/1 --count 3000 -- gzip -c input
both "matches" --trigger 'type=MEMWRITE and size=1' --pre 20 --post 50 --count 300K -- gzip -c input
for part in b d; do
    both "turns $part" --quantum 77 -- ./turns $part 300
done
both "each thread" --split-threads --quantum 100 -- ./turns e 300
for part in a c; do
    both "threads $part" -- ./threads $part
done
both "signals" -- ./pending
both "faults" -- ./faults
both "generated code" -- ./modify
both "changing code" -- ./changing 7,300,0,0
# several processes, whose captures differ from run to run: all are whole
bustap exec -q --engine blocks --follow -o many -- sh -c 'gzip -c input | gzip -dc' | cmp - input || fail "processes"
[ "$(ls many*.byb | wc -l)" -ge 3 ] || fail "$(ls many*)"
bustap verify many*.byb >/dev/null || fail "processes: verify"

# an archive does not make them larger
bustap exec -q --engine blocks -o small -- gzip -c input >/dev/null
before=$(stat -c %s small_*.byb)
bustap pack --in-place --level 5 small_*.byb 2>said
[ "$(stat -c %s small_*.byb)" -le "$before" ] || fail "packed: $(cat said)"
bustap verify small_*.byb >/dev/null || fail "packed: verify"
