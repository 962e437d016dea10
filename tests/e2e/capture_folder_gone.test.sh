#!/bin/bash
# The folder of a capture is removed while it runs: the capture ends, reports the reason in one
# sentence, and leaves no files.
set -eu

bustap capture --board virtual:smp=2,rate=100k -o gone/f --rotate time=200ms --quiet 2>errors &
capture=$!
until ls gone/f_00002_*.part >/dev/null 2>&1; do sleep 0.05; done
mv gone away
# a file may be created meanwhile
until rm -r away 2>/dev/null || [ ! -e away ]; do :; done
status=0
wait $capture || status=$?
[ "$status" -eq 3 ] || { echo "exit status $status"; cat errors; exit 1; }
[ "$(grep -c '^bustap: .*gone.*No such file or directory' errors)" -eq 1 ] || { cat errors; exit 1; }
# any other message reports losses
if grep -v -e '^bustap: losses ' -e 'No such file or directory' errors; then exit 1; fi
[ ! -e gone ]
[ ! -e away ]
