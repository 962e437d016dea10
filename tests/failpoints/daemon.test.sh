#!/bin/bash
# Some of the faults of bustapd; make soak-faults runs all.
set -e
for call in 7 8 9; do # while the configuration is checked: exit status 3, as no memory has everywhere
    (mkdir "$call" && cd "$call" && FAULT=memory:$call:ENOMEM "$TOP/tests/failpoints/run" daemon)
done
rm -rf 7 8 9
exec env QUICK=40 "$TOP/tests/failpoints/run" daemon daemon_pack
