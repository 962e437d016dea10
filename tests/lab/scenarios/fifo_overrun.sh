# A board that does not look whether its chip's FIFO is full: when the daemon does not read, bytes are lost in
# the middle of frames. The host finds the next frame, and every record is in the files or counted.
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
account bus="$(counter lost)" link=any # a slow machine may not read 1M requests a second
measured "$counts, $(value swallowed "$answer") bytes swallowed"
