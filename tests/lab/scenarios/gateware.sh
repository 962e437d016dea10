# The board in logic in the firmware's place: a capture that ends with its bus, a second one with stale bytes of the
# first, a stop, an unplugged cable and a link that hangs in mid-capture, both of which the session survives.
# seconds: 900
echo 'gateware on' >&3
answer=$(read -r line <&3; echo "${line-}")
case $answer in
ok*) ;;
*without\ verilator*) not_measured 'verilator was not there when the model was built' ;;
*) fail "gateware on: $answer" ;;
esac
LAB_CHECK=-t

# A stop comes in the middle of a moment of the simulation: the last few requests are not the session's any more.
account_stopped() {
    model counters
    sent=$(value sent "$answer")
    seen=0
    for stage in records bus link queue disk; do
        seen=$((seen + $(value $stage "$counts")))
    done
    if [ "$seen" -gt "$sent" ] || [ "$seen" -lt $((sent - 100)) ]; then
        fail "captured and lost: $seen of $sent ($counts)"
    fi
}

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
