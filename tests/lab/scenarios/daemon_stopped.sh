# The daemon's process is stopped for longer than a chip or a board may be silent (SIGSTOP; a busy machine has the
# same effect): the data received meanwhile is read, without an error. Then the process is stopped while the board
# is unplugged and plugged in again.
plug
configure
model rate 20k
start_daemon
await has_records 20000
kill -STOP $daemon
sleep 6
kill -CONT $daemon
send_more 20000
! daemon_says 'answer' || fail "somebody is blamed"
kill -STOP $daemon
sleep 2
unplug
sleep 0.5
plug
kill -CONT $daemon
await daemon_says 'the board is back'
send_more 20000
daemon_says 'was unplugged' || fail "the cable is not blamed"
finish_capture
account link="$(value link "$counts")"
[ "$(value link "$counts")" -le 680 ] || fail "more is lost on the link than the chip held: $counts"
same gaps "$(value gaps "$counts")" 1
measured "$counts"
