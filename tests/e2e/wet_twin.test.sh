#!/bin/bash
# The twin that wet_step compares with gives texts that were made by hand, and texts without contradictions.
set -eu -o pipefail
grep -qw xsave /proc/cpuinfo || { echo "this processor has no XSAVE"; exit 77; }
# shellcheck source=tests/e2e/wet_programs/compile.sh
. "$TOP/tests/e2e/wet_programs/compile.sh"

for name in foo turns again; do
    link_wet "$wet_programs/$name.s"
    step_wet
    diff "$wet_programs/$name.wet" stepped || { echo "$name: not what was made by hand"; exit 1; }
done

# The number of instructions is that of the first line; each has as many ports as it says; writers are instances that
# the text has, of instructions before or in a loop.
check() {
    awk '
        NR == 1 { count = $1; next }
        NF == 6 { if (ports != 0) exit 1; ports = $2; ids++; if ($1 != ids) exit 1; next }
        $1 == "SIZE" { if (left != 0 || ports-- < 1) exit 1; left = $2; last = -1; next }
        $1 == "VALUES" || $0 == "NO VALUES" { if (left != 0 || ports != 0) exit 1; left = $1 == "VALUES" ? $2 : 0
                                              last = -1; next }
        /^    [0-9]+:/ { split($1, part, ":"); if (left-- < 1 || part[1] < last) exit 1; last = part[1]
                         if (NF == 2 && (part[2] < 1 || part[2] > count)) exit 1; next }
        { exit 1 }
        END { if (ids != count || left != 0 || ports != 0) exit 1 }' stepped ||
        { echo "$1: not a text"; exit 1; }
}

for source in "$wet_programs"/*.[cs]; do
    can_run_wet "$source" || continue
    link_wet "$source"
    step_wet
    check "$source"
done
for seed in {1..5}; do
    "$BUILD/tests/e2e/make_random_wet" "$seed" 50 >random.s
    link_wet random.s
    step_wet
    check "seed $seed"
    [ "$(head -1 stepped)" -ge 90 ]
done
