#!/bin/bash
# Some of the faults of a capture; make soak-faults runs all.
exec env QUICK=70 "$TOP/tests/failpoints/run" capture capture_wait capture_keep capture_exec capture_windows capture_windows_wait
