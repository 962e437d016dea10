#!/bin/bash
# The text of a WET trace equals that of a slow twin that single-steps the program.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
# shellcheck source=tests/e2e/wet_programs/compile.sh
. "$TOP/tests/e2e/wet_programs/compile.sh"

# same NAME: the texts of ./program are equal.
same() {
    step_wet
    printf hello | bustap wet -o program.wet -- ./program >/dev/null 2>messages || true
    bustap wet print program.wet >executed || { echo "$1: not printed"; cat messages; exit 1; }
    cmp -s stepped executed || { echo "$1: the texts differ"; diff stepped executed | head -20; exit 1; }
    rm program.wet
}

programs=0
for source in "$wet_programs"/*.[cs]; do
    can_run_wet "$source" || continue
    link_wet "$source"
    same "$(basename "$source")"
    programs=$((programs + 1))
done
[ "$programs" -ge 20 ]

for seed in {1..40}; do
    "$BUILD/tests/e2e/make_random_wet" "$seed" 50 >random.s
    link_wet random.s
    same "random instructions, seed $seed"
done
