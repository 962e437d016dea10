#!/bin/bash
# A reader that closes early is no error; a full disk is one.
set -eu
PATH="$BUILD/tests/e2e:$PATH"
make_trace 300000 >t.byu

early() {
    set +e
    "$@" 2>err | head -n 1 >/dev/null
    status=${PIPESTATUS[0]}
    set -e
    [ "$status" -eq 0 ] && [ ! -s err ] || { echo "$*: status $status"; cat err; exit 1; }
}
early b2a t.byu
early bustap dump --json t.byu
early bustap info --json t.byu
early bustap -h
early bustap dump -h

full() {
    status=0
    "$@" >/dev/full 2>err || status=$?
    [ "$status" -eq 3 ] && grep -q 'No space left on device' err ||
        { echo "$*: status $status"; cat err; exit 1; }
}
full b2a t.byu
full bustap info t.byu
full bustap verify t.byu
full bustap --version
full bustap dump -h

# records of a slow writer are printed immediately
mkfifo slow
b2a slow >out &
exec 3>slow
head -c 2400 t.byu >&3
until [ -s out ]; do sleep 0.05; done
[ "$(head -n 1 out)" = "$(b2a -n 1 t.byu)" ]
exec 3>&-
wait
head -c 2400 t.byu | b2a | cmp - out
