# The board loses its power while it is unplugged, and whenever the chip is opened the line holds frames of the
# session again: they are taken for its life once at the most, then the board is armed anew.
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
