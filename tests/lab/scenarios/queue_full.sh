# The host does not read for a while and the board's queue is small: the firmware counts the dropped requests.
plug
configure
model queue 64
model rate 500k
start_daemon
await has_records 50000
kill -STOP $daemon
await counter_is lost -ge 300000
kill -CONT $daemon
send_more 200000
finish_capture
account bus="$(counter lost)"
verify_says 'bus'
measured "$counts"
