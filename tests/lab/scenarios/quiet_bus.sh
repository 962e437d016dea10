# A few requests, then nothing: the board sends a part-filled frame after 20 ms, heartbeats keep the session
# alive during any pause, and later requests are in the same capture.
plug
configure
model rate 1k
start_daemon
# a busy machine arms the board more than once, which resets the count of sent requests
await state_is running
await counter_is sent -ge 20
model rate 0
sent=$(counter sent)
await has_records "$sent"
sleep 6
state_is running || fail "the capture has ended while the bus was quiet"
model rate 1k
await counter_is sent -ge $((sent + 20))
model rate 0
await has_records "$(counter sent)"
finish_capture
account
same gaps "$(value gaps "$counts")" 0
measured "$counts, 6 s of nothing"
