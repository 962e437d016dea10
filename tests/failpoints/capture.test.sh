#!/bin/bash
# A part of the faults of a capture; make soak-faults has all.
exec env QUICK=90 "$TOP/tests/failpoints/run" capture capture_wait capture_keep
