#!/bin/bash
# Some of the faults of bustapd; make soak-faults runs all.
set -e
for call in 3 4 5 6; do # while the configuration is read: exit status 3, as no memory has everywhere
    (mkdir "$call" && cd "$call" && FAULT=memory:$call:ENOMEM "$TOP/tests/failpoints/run" daemon)
done
rm -rf 3 4 5 6
exec env QUICK=40 "$TOP/tests/failpoints/run" daemon daemon_pack
