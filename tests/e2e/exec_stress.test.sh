#!/bin/bash
# Some of stress-ng's stressors under `bustap exec` and with --follow are as natively; `make soak-exec` has them all.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v stress-ng >/dev/null || { echo "stress-ng is missing here: '.ci/packages check' installs it"; exit 77; }
# slow machines: time counts for those that do not count their operations
STRESS_OPS=1 STRESS_SECONDS=20 "$TOP/tests/e2e/exec_stress" pthread sigfd sigpending sigsegv far-branch >told || { cat told; exit 1; }
# not all of them succeed natively everywhere
[ "$(grep -c ': agrees$' told)" -ge 3 ] || { cat told; exit 1; }
