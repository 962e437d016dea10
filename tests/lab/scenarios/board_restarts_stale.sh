# The board loses power while it is unplugged, and the chip sends stale frames of the session whenever it is opened.
# The daemon mistakes them for the session at most once, then arms the board again.
plug
configure
model rate 100k
start_daemon
await has_records 100000
model stale on
unplug
await daemon_says 'waiting for it to come back'
model restart
plug
await daemon_says 'the board is back'
await counter_is accepted -ge 100000
VERIFY=1 finish_capture
same uncounted "$(value uncounted "$counts")" 1
same sessions "$(value sessions "$counts")" 2
measured "$counts"
