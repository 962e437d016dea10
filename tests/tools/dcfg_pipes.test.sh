#!/bin/bash
# Views of a graph: a reader that closes early is no error, a full disk is one.
set -eu
PATH="$BUILD/tests/e2e:$PATH"
make_dcfg a.json
make_dcfg --depth 0 b.json
for command in blocks "blocks --csv" "blocks --json" loops "loops --csv" "loops --json" dot callgrind \
    "diff b.json" "diff --csv b.json" "diff --json b.json" functions annotate "annotate --csv" "annotate --json" \
    "annotate --html -"; do
    expected=0
    [ "${command#diff}" = "$command" ] || expected=1
    # shellcheck disable=SC2086
    { bustap dcfg $command a.json 2>complaints && echo 0 >status || echo $? >status; } | true
    # callgrind and annotate report images that are missing
    sed -i '/^bustap: .*: its blocks are shown without instructions$/d' complaints
    [ ! -s complaints ] || { echo "$command:"; cat complaints; exit 1; }
    [ "$(cat status)" = $expected ] || { echo "$command: $(cat status)"; exit 1; }
    status=0
    # shellcheck disable=SC2086
    bustap dcfg $command a.json >/dev/full 2>complaints || status=$?
    [ "$status" = 3 ]
    grep -qx 'bustap: cannot write standard output: No space left on device' complaints
done
