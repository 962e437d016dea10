#!/bin/bash
# Records of four programs, of 4 million instructions each after their start, as NAME.byu in this folder: for
# bench_blocks.
set -eu
# shellcheck source=tests/bench/traced_programs.sh
. "$TOP/tests/bench/traced_programs.sh"
make_programs

# records NAME SKIP COMMAND...
records() {
    local name=$1 skip=$2
    shift 2
    bustap exec -q --exit --skip "$skip" --count 4M -o "$name" -- "$@" >/dev/null 2>&1 || true
    zcat "$name"_*.byu.gz >"$name.byu"
}
records compute 20M ./compute 3
records gzip 30M gzip -9 -c text
if command -v sqlite3 >/dev/null; then
    records sqlite3 50M sqlite3 :memory: '.read queries'
fi
records cc1 20M "$(gcc -print-prog-name=cc1)" -quiet -O2 decode.i -o decode.s
