#!/bin/bash
# Changing a register that an instruction outside of a slice wrote never changes the slice's criterion: random
# straight programs, executed again natively for each such instruction.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
# shellcheck source=tests/e2e/wet_programs/compile.sh
. "$TOP/tests/e2e/wet_programs/compile.sh"

# The addresses of the program's instructions, in the order of execution.
list_addresses() {
    bustap wet print program.wet | awk 'NF == 6 { print $3 }' >addresses
}

# change_around ADDRESS: changes what is not in its slice.
change_around() {
    local status=0
    bustap slice --all --json --instructions program.wet "$1" | jq -r '.instructions[].address' >slice
    "$BUILD/tests/e2e/change_registers" ./program "$1" <slice >changed || status=$?
    [ "$status" != 124 ] || { echo "programs cannot be single-stepped here"; exit 77; }
    [ "$status" -eq 0 ] || { echo "seed $seed:"; cat changed; exit 1; }
    changes=$((changes + $(cat changed)))
}

changes=0
for seed in {1..15}; do
    "$BUILD/tests/e2e/make_random_wet" "$seed" 50 >random.s
    link_wet random.s
    bustap wet --no-values -o program.wet -- ./program 2>messages
    list_addresses
    # of the last instructions before the exit; in each program others
    for back in $((4 + seed % 3)) $((9 + seed % 5)); do
        change_around "$(tail -n "$back" addresses | head -n 1)"
    done
done
[ "$changes" -ge 700 ] || { echo "only $changes changes"; exit 1; }
