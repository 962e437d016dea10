#!/bin/bash
# A part of the faults of bustap convert, between all formats; make soak-faults has all.
exec env QUICK=15 "$TOP/tests/failpoints/run" convert
