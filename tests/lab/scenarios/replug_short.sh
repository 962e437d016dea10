# The board is unplugged for a moment: its queue holds the requests meanwhile, and none is lost.
plug
configure
model rate 50k
start_daemon
await has_records 50000
unplug
await daemon_says 'waiting for it to come back'
plug
await daemon_says 'the board is back'
send_more 50000
finish_capture
account link="$(value link "$counts")"
[ "$(value link "$counts")" -le 680 ] || fail "more is lost on the link than the chip held: $counts"
same gaps "$(value gaps "$counts")" 1
same uncounted "$(value uncounted "$counts")" 0
measured "$counts"
