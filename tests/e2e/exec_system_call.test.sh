#!/bin/sh
# Emulated system calls of a program, one by one.
set -eu
"$BUILD/tests/e2e/exec_system_call"
