# The board is unplugged in mid-capture and plugged in again: the capture continues in the same set of files and
# reports the interruption, and only requests that did not fit the board's queue are lost.
plug
configure
model queue 256
model rate 200k
start_daemon
await has_records 100000
unplug
await daemon_says 'waiting for it to come back'
state_is running || fail "the capture did not survive"
await counter_is lost -ge 200000
plug
await daemon_says 'the board is back'
send_more 200000
finish_capture
account bus="$(counter lost)" link="$(value link "$counts")"
[ "$(value link "$counts")" -le 680 ] || fail "more is lost on the link than the chip held: $counts"
same gaps "$(value gaps "$counts")" 1
same uncounted "$(value uncounted "$counts")" 0
same sessions "$(value sessions "$counts")" 1
[ "$(value gap_ms "$counts")" -ge 1000 ] || fail "the gap is too short: $counts"
verify_says 'gap of'
measured "$counts"
