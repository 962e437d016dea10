#!/bin/sh
# The address space of a program that is run by us: random operations against a simple twin.
set -eu
"$BUILD/tests/e2e/exec_space"
