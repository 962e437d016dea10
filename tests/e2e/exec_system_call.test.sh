#!/bin/sh
# System calls of a program that is run by us, one by one.
set -eu
"$BUILD/tests/e2e/exec_system_call"
