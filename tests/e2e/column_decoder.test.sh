#!/bin/bash
# A decoder in Python, written from doc/capture-file.md and doc/archive-codec.md, reads every content of columns: what it
# writes is what `bustap convert` does.
set -eu -o pipefail

fail() {
    echo "$*"
    exit 1
}

command -v zstd >/dev/null || { echo 'zstd is not installed'; exit 77; }

check() { # FILE CONTENTS: its data members have these contents of codec 2, and both decoders agree
    python3 "$TOP/tests/e2e/column_decoder.py" --contents "$1" >contents
    [ "$(cat contents)" = "$2" ] || fail "$1 has contents $(cat contents) instead of $2"
    python3 "$TOP/tests/e2e/column_decoder.py" "$1" >own
    bustap convert --force -q --to byu -o theirs "$1" 2>message || fail "$(cat message)"
    [ -s own ] || fail "$1: no records"
    cmp own theirs || fail "$1: not what bustap reads"
}

# a bus; then records with 300 kinds and times of all sizes, which follow one another in runs that repeat on other pages
bustap capture -q --board virtual:smp=3,requests=1500 -o bus
python3 - >strange.byu <<'END'
import random, struct, sys
random.seed(7)
kinds = [random.getrandbits(32) for _ in range(300)]
loop = [(random.getrandbits(12), random.choice(kinds[:20]), random.choice((0, 3, 9, 1 << 20))) for _ in range(25)]
out = []
while len(out) < 1500:
    page = random.choice((5, 9, random.getrandbits(20)))
    for offset, kind, time in random.choice((loop, loop[3:], [])):
        out.append((page << 12 | offset, kind, time))
    base = random.getrandbits(32)
    for i in range(6):
        wild = random.random() < 0.5
        kind = random.choice(kinds) if wild else kinds[i]
        out.append((base + 8 * i & 0xFFFFFFFF, kind, random.getrandbits(random.choice((2, 8, 9, 32))) if wild else i))
sys.stdout.buffer.write(b"".join(struct.pack("<III", *record) for record in out))
END
bustap cut -q --raw -o strange.byu.gz strange.byu
for input in bus_*.byu.gz strange.byu.gz; do
    for want in 1:1 4:1 5:2 6:4 7:3; do
        bustap pack -q --force --level "${want%:*}" -o packed.byb "$input"
        check packed.byb "${want#*:}"
    done
done

# stored; several members; more nibbles than a chunk of the code has
bustap capture -q --board virtual:smp=2,requests=2000 -o stored --engine columns --level 0
check "$(echo stored_*)" 0
bustap capture -q --board virtual:smp=2,requests=3000 -o several --engine columns --block 1000
check "$(echo several_*)" '1 1 1'
bustap capture -q --board virtual:smp=4,requests=17000 -o long
bustap pack -q -o long.byb long_*
check long.byb 2

# damage is seen
python3 - long.byb <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) // 2] ^= 4
open("damaged.byb", "wb").write(data)
END
! python3 "$TOP/tests/e2e/column_decoder.py" damaged.byb >own 2>message || fail 'damage is not seen'
grep -q column_decoder: message || fail "$(cat message)"
