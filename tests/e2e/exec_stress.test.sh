#!/bin/bash
# Some of stress-ng's stressors under `bustap exec` and with --follow run as natively; `make soak-exec` runs all.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v stress-ng >/dev/null || { echo "stress-ng is missing here: '.ci/packages check' installs it"; exit 77; }
# time limits apply to stressors without a count of operations, and on slow machines
STRESS_OPS=1 STRESS_SECONDS=20 "$TOP/tests/e2e/exec_stress" pthread sigfd sigpending sigsegv far-branch >messages || { cat messages; exit 1; }
# some fail natively on some machines
[ "$(grep -c ': agrees$' messages)" -ge 3 ] || { cat messages; exit 1; }
