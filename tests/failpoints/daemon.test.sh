#!/bin/bash
# A part of the faults of bustapd; make soak-faults has all.
exec env QUICK=40 "$TOP/tests/failpoints/run" daemon
