# The board in logic in the firmware's place: a capture that ends with its bus, a second one with stale bytes of the
# first, a stop, an unplugged cable and a link that hangs in mid-capture, both of which the session survives.
# seconds: 900
use_gateware
LAB_CHECK=-t

plug
configure
capture_all 20000 1k
account
all=$counts

model stale on
rm -r out
start_daemon
capture_all 20000 1k
account
[ "$(value swallowed "$answer")" -ge 65536 ] || fail "no stale bytes: $answer"
model stale off

rm -r out
model requests endless
start_daemon
await has_records 10000
finish_capture
account_stopped
same "lost on the bus" "$(value bus "$counts")" 0

rm -r out
start_daemon
await has_records 10000
unplug
await daemon_says 'waiting for it to come back'
send_more 2000
plug
await daemon_says 'the board is back'
send_more 10000
finish_capture
account_stopped
[ "$(value bus "$counts")" -gt 0 ] || fail "the queue of eight frames held all: $counts"
same gaps "$(value gaps "$counts")" 1
same uncounted "$(value uncounted "$counts")" 0
same sessions "$(value sessions "$counts")" 1
unplugged=$counts

rm -r out daemon.log
start_daemon
await has_records 10000
model hang on
await daemon_says 'waiting for it to come back'
model hang off
await daemon_says 'the board is back'
send_more 10000
finish_capture
account_stopped
[ "$(value bus "$counts")" -gt 0 ] || fail "the queue of eight frames held all: $counts"
same gaps "$(value gaps "$counts")" 1
same sessions "$(value sessions "$counts")" 1
measured "$all; unplugged: $unplugged; hung: $counts"
