#!/bin/bash
# Some of the faults of bustap convert, between all formats; make soak-faults runs all.
exec env QUICK=15 "$TOP/tests/failpoints/run" convert
