#!/bin/sh
# The address space of an executed program: random operations against a simple reference.
set -eu
"$BUILD/tests/e2e/exec_space"
