#!/bin/bash
# Some of the faults of bustap pack; make soak-faults runs all.
exec env QUICK=60 "$TOP/tests/failpoints/run" pack pack_in_place
