#!/bin/bash
# bustap doctor with captures: errors of a probe are found, and none in a capture without errors.
set -eu -o pipefail
cat >make.py <<'END'
"""Writes the chunks that a processor with a program of many functions fetches, with errors: make.py ERROR >CAPTURE"""
import random, struct, sys
error = sys.argv[1]
choose = random.Random(1)
functions = [choose.randrange(0x10000, 0x8000000) & ~7 for _ in range(300)]
out = sys.stdout.buffer
for number in range(20000 if error != "short" else 500):
    if number % 20 == 0:
        address = choose.choice(functions)
    address += 8
    seen, kind, size, processor, attribute, time = address, 0, 8, number // 20 % 2, 7, 10
    if error == "stuck":
        seen |= 1 << 13
    if error == "shift" and choose.random() < 0.01:
        seen += 3
    if error in ("flips", "unflipped") and choose.random() < 0.01:
        seen ^= 1 << 12 if error == "flips" else 0
    if number == 5000:
        kind = 0x44 if error == "type" else kind
        size = 9 if error == "size" else size
        seen += 3 if error == "alignment" else 0
        processor = 9 if error == "processor" else processor
        attribute = 0x80 if error == "attribute" else attribute
        time = 1 << 30 if error == "long" else 0 if error == "still" else time
    out.write(struct.pack("<IBBBBI", seen, kind, size, attribute, processor, time))
END
examine() { # ERROR STATUS
    local status=0
    python3 make.py "$1" >"$1.byu"
    bustap doctor --raw "$1.byu" >"$1.out" || status=$?
    [ "$status" = "$2" ] || { echo "$1: exit status $status"; cat "$1.out"; exit 1; }
}
expect() { # ERROR STATUS LINE: this finding, and no other
    examine "$1" "$2"
    grep -q "^  $3" "$1.out" && [ "$(grep -c '^  [pw]' "$1.out")" = 1 ] || { cat "$1.out"; exit 1; }
}
examine none 0
grep -q '^All is well' none.out
grep -q 'cannot tell where few addresses are used: bit 27 is always 0, 28' none.out
expect stuck 1 'problem  lines: address bit 13 is always 1, though'
expect flips 1 'problem  flips: at least [0-9]* of [0-9]* visits of chunks have a wrong address; wrong bits: 12 ('
wrong=$(sed -n 's/.* flips: at least \([0-9]*\) of.*/\1/p' flips.out)
flipped=$({ cmp -l <(python3 make.py flips) <(python3 make.py unflipped) || :; } | wc -l)
[ "$wrong" -le "$flipped" ] && [ $((wrong * 4)) -ge $((flipped * 3)) ] || { echo "$wrong of $flipped"; exit 1; }
expect type 1 'problem  types: 1 record of a type that no bus has; the first is record 5001, of type 0x44'
expect size 1 'problem  sizes: 1 record of a size'
expect alignment 0 'warning  alignment: 1 fetch begins'
examine shift 1
grep -q '^  problem  alignment: [0-9]* fetches begin within' shift.out
expect processor 0 'warning  processors: .*: 9 in 1;'
expect attribute 0 'warning  attributes: 1 record with an attribute above 7'
expect long 0 'warning  time: 1 record more than 2^28 ticks'
expect still 0 'warning  time: 1 record with the tick of the previous one'
: >empty.byu
bustap doctor empty.byu >empty.out 2>/dev/null
grep -q '^  warning  records: there are no records' empty.out && [ "$(wc -l <empty.out)" = 3 ] || { cat empty.out; exit 1; }
bustap doctor mistyped.byu 2>errors && exit 1
grep -q 'nor is there a file of this name' errors
examine short 0
grep -q 'lines: cannot tell' short.out && grep -q 'flips: cannot tell' short.out

bustap doctor --json flips.byu >json || [ $? = 1 ]
jq -e '.problems == 1 and (.findings[] | select(.check == "flips").level) == "problem"' json >/dev/null

# chunks of an executed program on a bus, and its instructions, have no errors; noise is found
if [ -z "$NO_EXEC" ]; then
    "${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o switches "$TOP/tests/e2e/programs/switches.c"
    bustap exec -q -o switches ./switches 20 >/dev/null || : # the status is the program's
    bustap doctor switches_*.byu.gz | grep -q '^All is well'
    "$BUILD/tests/e2e/bus_models" --write chunk=8 0 0 switches switches_*.byu.gz >clean.byu
    bustap doctor --raw clean.byu | grep -q '^All is well' || { bustap doctor --raw clean.byu; exit 1; }
    "$BUILD/tests/e2e/bus_models" --write chunk=8 0 5 switches switches_*.byu.gz >noise.byu
    { bustap doctor --raw noise.byu || [ $? = 1 ]; } | grep -q '^  problem  flips' || exit 1
fi

# a real capture with errors of the probe
real=$SHARED/data/pentium2.byu
[ -n "$SHARED" ] && [ -e "$real" ] || exit 0
bustap doctor "$real" >out 2>/dev/null || [ $? = 1 ]
for bit in 4 10 11 14 15; do
    grep -Eq "problem  flips: .* $bit \([0-9]+\)" out || { cat out; exit 1; }
done
grep -q 'warning  alignment: 1 fetch' out
