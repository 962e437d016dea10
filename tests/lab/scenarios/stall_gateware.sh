# The board in logic, on a link that carries a quarter of its bus, may stall the bus: a capture that ends with its bus and
# a cable that is unplugged and plugged in again. No request is lost on the bus.
# seconds: 900
use_gateware
LAB_CHECK=-s
plug
configure 'stall = yes'
model link 5M
model requests 20000
model rate 1k
start_daemon
await counter_is sent -eq 20000
await state_is finished
check_stalled
account
all="$counts, $stalls"

rm -r out
model requests endless
start_daemon
await has_records 10000
unplug
await daemon_says 'waiting for it to come back'
await_standstill 1000000
plug
await daemon_says 'the board is back'
send_more 10000
stop_capture
check_stalled
account_stopped 3000 # while the link takes eight slots of the queue
same "lost on the bus" "$(value bus "$counts")" 0
[ "$(value link "$counts")" -le 340 ] || fail "more is lost on the link than the chips held: $counts"
same gaps "$(value gaps "$counts")" 1
same uncounted "$(value uncounted "$counts")" 0
same sessions "$(value sessions "$counts")" 1
measured "$all; unplugged: $counts, $stalls"
