#!/bin/bash
# File names may contain any octets; answers in JSON are UTF-8 nevertheless.
set -eu
. "$TOP/tests/host/daemon.sh"

printf '[capture a]\nboard = virtual:smp=1,requests=1000\noutput = out/\377a\n[capture b]\nboard = \377\noutput = b\n' >conf
start_daemon
await is_state a finished
ctl --json status | iconv -f UTF-8 -t UTF-8 >/dev/null || fail "this is not UTF-8"
[ "$(status '.captures[0].output')" = $'out/\xef\xbf\xbda' ] || fail "output: $(status '.captures[0].output')"
ctl status | grep -q '^a ' || fail "status: $(ctl status)"
gzip -t out/*.byu.gz
stop_daemon
