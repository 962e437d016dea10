#!/bin/bash
# Outputs other than captures: a file that cannot be truncated or written is reported, with status 3, and old and new
# contents are not mixed.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

fails() { # FAULT FILE MESSAGE COMMAND...
    local fault=$1 file=$2 message=$3 status=0
    shift 3
    seq 1000 >"$file"
    BUSTAP_FAIL=$fault "$BUILD/tests/failpoints/bustap" "$@" 2>errors || status=$?
    [ "$status" -eq 3 ] || { echo "$*: exit status $status"; exit 1; }
    grep -q "^bustap: $message $file: Input/output error" errors || { echo "$*: $(cat errors)"; exit 1; }
    case $message in
    *empty) seq 1000 | cmp - "$file" ;;
    esac
}

# --- without memory the program continues, and its report says that something is missing ---
for call in 1000 2000 3000 4000; do
    BUSTAP_FAIL=memory:$call:ENOMEM "$BUILD/tests/failpoints/bustap" depend --csv -o report echo done >output 2>errors
    [ "$(cat output)" = done ]
    grep -q 'memory' errors
done

fails truncate:1:EIO report 'cannot empty' profile -o report true
fails truncate:1:EIO report 'cannot empty' rondo -o report true
# the first call is for the memory that programs share
fails truncate:2+:EIO report 'cannot empty' exec -q --summary report -o c true
# The capture that had begun is ended before the memory that its threads read is freed.
[ -z "$(find . -name 'c_*.part')" ] || { echo 'a capture was not ended'; exit 1; }
fails sync:1:EIO wrong.byu.gz 'cannot write' rondo -o report --wrong-path wrong.byu.gz true
