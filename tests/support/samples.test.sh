#!/bin/bash
# tests/run finds the folder of samples beside the project; SHARED names another, and SHARED= hides it, also from unit
# tests.
set -eu

mkdir -p project/tests/e2e project/build/tests shared elsewhere
cp "$TOP/tests/run" project/tests/
printf '#!/bin/sh\nprintf "%%s\\n" "${SHARED-unset}" >"$BUILD/seen"\n' >project/tests/e2e/samples.test.sh
cp project/tests/e2e/samples.test.sh project/build/tests/unit
printf 'TEST_SUITE(samples, cases)\n' >project/tests/test_samples.c
chmod +x project/tests/e2e/samples.test.sh project/build/tests/unit
unset results SHARED

# sees KIND FOLDER [VARIABLE=VALUE]
sees() {
    local kind=$1 folder=$2
    shift 2
    env "$@" BUILD="$PWD/project/build" project/tests/run "$kind/samples" >out 2>&1 || [ "$kind" = unit ] || { cat out; exit 1; }
    [ "$(cat project/build/seen)" = "$folder" ] || { echo "$kind $*: SHARED is '$(cat project/build/seen)'"; exit 1; }
    rm project/build/seen
}
for kind in e2e unit; do
    sees $kind "$PWD/shared"
    sees $kind '' SHARED=
    sees $kind "$PWD/elsewhere" SHARED=elsewhere
done
rmdir shared
sees e2e ''
