#!/bin/bash
# The unit of the supervisor fits the daemon's own shutdown, as bustapd(8) describes it.
set -eu
. "$TOP/tests/host/daemon.sh"
unit=$TOP/doc/bustapd.service
value() { sed -n "s/^$1=//p" "$unit"; }

# SIGTERM goes to the daemon alone: boards that are programs still deliver, commands of exec-on-file still run
[ "$(value KillMode)" = mixed ] || fail "KillMode is '$(value KillMode)'"

# the daemon ends itself earlier than the supervisor kills it: after its limit, and 3 s for what is in memory
[ "$(value TimeoutStopSec)" -ge "$(($(sed -n 's/.*100ms to 1h; \([0-9]*\)s by default.*/\1/p' "$TOP/doc/bustapd.8") + 3))" ]
grep -qF "TimeoutStopSec=$(value TimeoutStopSec)" "$TOP/doc/bustapd.8"

# what it announces, and which of its ends are not repeated
[ "$(value Type)" = notify ]
printf '[capture x]\nboard = virtual:smp=2\n' >conf
status=0
bustapd -c conf --socket socket 2>log || status=$?
[ "$(value Restart)" = on-failure ]
[ "$(value RestartPreventExitStatus)" = "$status" ] || fail "a wrong configuration ends it with $status"

# a board that is a program is asked to end only when the capture is complete
cat >board <<END
#!/bin/sh
trap 'echo signalled >signalled' TERM
"$BUILD/tests/e2e/firmware_board" virtual:smp=2,rate=100k
END
chmod +x board
cat >conf <<END
[capture one]
board = program:$PWD/board
output = out/one
exec-on-file = $PWD/slow
END
printf '#!/bin/sh\nsleep 1\necho "$1" >>done\n' >slow
chmod +x slow
start_daemon
await is_state one running
await has_records one 100
stop_daemon
verify_files out/one_*
[ ! -e signalled ] || fail "the board was signalled"
[ "$(cat done)" = "$(ls out/one_*.byu.gz)" ] || fail "the command was ended"
