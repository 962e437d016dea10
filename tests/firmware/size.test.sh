#!/bin/sh
# The firmware links for the board, keeps to its budget, and a smaller budget is noticed.
set -eu
command -v riscv64-unknown-elf-gcc >/dev/null || {
    echo "there is no riscv64-unknown-elf-gcc here"
    exit 77
}
unset MAKEFLAGS MAKELEVEL MFLAGS
make -s -C "$TOP" firmware-run >sizes
grep -q '^text .* of ' sizes
elf=$TOP/build/firmware/bustap.elf

# Nothing of a C library has crept in, and nothing is left to be resolved.
riscv64-unknown-elf-nm -u "$elf" >unresolved
if grep . unresolved; then
    echo "these are not resolved"
    exit 1
fi

sed 's/^| text .*/| text | code | 100 |/' "$TOP/firmware/README.md" >tight
if "$TOP/firmware/riscv/check-size" riscv64-unknown-elf-size "$elf" tight >sizes; then
    echo "a budget of 100 bytes was not noticed"
    exit 1
fi
grep -q 'TOO LARGE' sizes
sed '/^| bss /d' "$TOP/firmware/README.md" >without
if "$TOP/firmware/riscv/check-size" riscv64-unknown-elf-size "$elf" without >sizes; then
    echo "a section without a budget was not noticed"
    exit 1
fi
