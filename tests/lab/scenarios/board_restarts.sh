# The board loses power, too: it is armed again, and the time in between is a gap without a count.
plug
configure
model rate 100k
start_daemon
await has_records 100000
unplug
await daemon_says 'waiting for it to come back'
model restart
plug
await daemon_says 'the board is back'
await counter_is sent -ge 100000
VERIFY=1 finish_capture
same gaps "$(value gaps "$counts")" 1
same uncounted "$(value uncounted "$counts")" 1
same sessions "$(value sessions "$counts")" 2
verify_says 'its losses are not counted'
measured "$counts"
