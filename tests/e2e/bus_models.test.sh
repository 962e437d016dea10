#!/bin/bash
# Executed programs on simulated buses: the model of the bus is found, certain counts do not exceed the true ones, and
# counts are within their limits. What cannot be counted is an error.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
PATH="$BUILD/tests/e2e:$PATH"

for program in switches recursion; do
    "${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o "$program" "$TOP/tests/e2e/programs/$program.c"
    bustap exec -q --only-fetch -o "$program" "./$program" 20 >/dev/null || : # the status is the program's
done
bus_models --quick switches switches_*.byu.gz >table || { cat table; exit 1; }
# a program without symbols, its libraries, and code that the loader enters
bustap exec -q --only-fetch --modules modules -o gzip -- gzip -9 -c "$TOP/LICENSE" >/dev/null
readarray -t modules <modules
bus_models --quick "${modules[@]}" gzip_*.byu.gz >table || { cat table; exit 1; }

# data that is not executed code of the image
bus_models --write chunk=8 0 0 recursion recursion_*.byu.gz >uncached.byu
bus_models --write chunk=8 2048 0 recursion recursion_*.byu.gz >cached.byu
bustap dcfg build --image recursion -o graph.json uncached.byu 2>messages
grep -q 'bus: chunk=8,refetch=none,ahead=0, found in the capture; it leaves 0 of ' messages
bustap dcfg build --image recursion --bus chunk=8 --trace trace.json -o messages.json uncached.byu 2>/dev/null
# the graph says where the model is from; all else is the same
diff <(sed s/MODEL_FROM.*capture\",// graph.json) <(sed s/MODEL_FROM.*option\",// messages.json)
bustap dcfg check --trace trace.json messages.json >/dev/null
refuse() { # MESSAGE ARGUMENTS...
    local status=0 message=$1
    shift
    bustap dcfg build -o refused.json "$@" 2>messages || status=$?
    [ "$status" = 1 ] && grep -q "$message" messages && [ ! -e refused.json ] || { cat messages; exit 1; }
}
refuse 'fill an instruction cache' --image recursion cached.byu
refuse 'are not what was executed' --image "recursion@0x5000000" uncached.byu
refuse 'no fetch has the 16 bytes' --bus chunk=16 uncached.byu
refuse 'the model chunk=8.* does not explain' --image recursion --bus chunk=8,ahead=2,refetch=each uncached.byu

# too few fetches to see that a cache was filled: nothing is certain; likewise with a model that was given
bus_models --write chunk=32 16384 0 recursion recursion_*.byu.gz >all.byu
head -c 6000 all.byu >few.byu
refuse 'or these fetches fill an instruction cache: there are too few to tell' --image recursion few.byu
bustap dcfg build -o few.json few.byu 2>messages
grep -q 'nothing is certain: too few' messages
[ "$(bustap dcfg blocks --json few.json | jq '[.blocks[].certain] | add')" = 0 ]
bustap dcfg build -o told.json --bus chunk=8 cached.byu 2>messages
grep -q 'nothing is certain: loops are not visible' messages
[ "$(bustap dcfg blocks --json told.json | jq '[.blocks[].certain] | add')" = 0 ]

# with --keep-noise fetches with wrong addresses execute other code
bus_models --write chunk=8 0 5 recursion recursion_*.byu.gz >noisy.byu
bustap dcfg build -o noisy.json --keep-noise --image recursion noisy.byu 2>messages
grep -q 'nothing is certain: bus fetches with wrong addresses' messages
[ "$(bustap dcfg blocks --json noisy.json | jq '[.blocks[].certain] | add')" = 0 ]

# instructions, and images that are not what was executed
refuse 'are not what was executed' --image "recursion@0x5000000" recursion_*.byu.gz
refuse 'are not what was executed' --image switches@0x50000000 recursion_*.byu.gz
