#!/bin/bash
# Some of the faults of bustap cut and merge; make soak-faults runs all.
exec env QUICK=60 "$TOP/tests/failpoints/run" cut merge
