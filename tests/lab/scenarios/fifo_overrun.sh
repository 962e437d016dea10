# A board that does not check whether its chip's FIFO is full: when the daemon does not read, bytes are lost in the
# middle of frames. The host finds the next frame, and every record is in the files or counted as lost.
plug
configure
model rate 1M
start_daemon
await has_records 100000
model overrun on
kill -STOP $daemon
await counter_is swallowed -ge 1000000
kill -CONT $daemon
model overrun off
send_more 500000
finish_capture
# on a slow machine the board drops requests, too; the frames that report them may be lost
account bus="$(value bus "$counts")" link=any
[ "$(value bus "$counts")" -le "$(value lost "$answer")" ] || fail "the board lost less: $counts; $answer"
measured "$counts, $(value swallowed "$answer") bytes swallowed"
