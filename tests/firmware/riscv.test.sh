#!/bin/sh
# The board's image for riscv32, run in a simulator: every record comes out. The simulator knows no
# compressed instructions, so the image is built without.
set -eu
command -v riscv64-unknown-elf-gcc >/dev/null || {
    echo "there is no riscv64-unknown-elf-gcc here"
    exit 77
}
unset MAKEFLAGS MAKELEVEL MFLAGS
here=$PWD
make -s -C "$TOP" "$here/image/bustap.elf" RISCV_BUILD="$here/image" RISCV_MARCH=rv32im >log 2>&1 || {
    cat log
    exit 1
}
riscv64-unknown-elf-objcopy -O binary image/bustap.elf rom
for packing in plain delta; do
    "$BUILD/tests/e2e/run_firmware" rom $packing
    "$BUILD/tests/e2e/run_firmware" rom $packing stall
done
