#!/bin/bash
# Some of the faults of bustap recover; make soak-faults runs all.
exec env QUICK=50 "$TOP/tests/failpoints/run" recover recover_force recover_append
