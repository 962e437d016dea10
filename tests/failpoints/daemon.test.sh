#!/bin/bash
# Some of the faults of bustapd; make soak-faults runs all.
exec env QUICK=40 "$TOP/tests/failpoints/run" daemon daemon_pack
