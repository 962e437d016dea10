# A board that may stall its bus: a host that does not read, an unplugged cable in such a stall, and a daemon that is
# killed in one. The bus stands still, continues when it can, and no request is lost on it.
# seconds: 600
LAB_CHECK=-s
SECOND=100000000 # ticks
plug
configure 'stall = yes'
model queue 64
model rate 500k
start_daemon
await has_records 50000
kill -STOP $daemon
await_standstill $SECOND
kill -CONT $daemon
send_more 200000
stop_capture
check_stalled
account
stopped="$counts, $stalls"

rm -r out daemon.log
start_daemon
await has_records 50000
kill -STOP $daemon
await_standstill $SECOND
unplug
kill -CONT $daemon
await daemon_says 'waiting for it to come back'
await_standstill $SECOND
plug
await daemon_says 'the board is back'
send_more 200000
stop_capture
check_stalled
account link="$(value link "$counts")"
[ "$(value link "$counts")" -le 680 ] || fail "more is lost on the link than the chip held: $counts"
same gaps "$(value gaps "$counts")" 1
same uncounted "$(value uncounted "$counts")" 0
same sessions "$(value sessions "$counts")" 1
unplugged="$counts, $stalls"

# the bus is stalled until the next daemon ends the session
rm -r out
start_daemon
await has_records 50000
kill -KILL $daemon
wait $daemon || true
await_standstill $SECOND
rm -r out
start_daemon
await has_records 200000
finish_capture
account
measured "$stopped; unplugged: $unplugged; killed: $counts"
