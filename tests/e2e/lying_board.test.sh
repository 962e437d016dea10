#!/bin/bash
# Boards that send random wrong data with right checksums, and links that lose frames: if the capture has the
# board's count, every record is delivered or counted as lost, and both verifiers accept the files; else the
# missing count is all that they report.
#
# By hand: BOARDS=5000 SEED=1000 BUILD=build tests/run e2e/lying_board
set -eu -o pipefail
mkdir boards
"$BUILD/tests/e2e/lying_board" "${SEED:-1}" "${BOARDS:-150}" boards | tee sums
[ "$(ls -d boards/known_* | wc -l)" -gt "$((${BOARDS:-150} / 4))" ] || { echo "too few whose count is known"; exit 1; }
python3 "$TOP/tests/tools/verify_twice.py" boards "${MUTANTS:-100}" "${SEED:-1}"
