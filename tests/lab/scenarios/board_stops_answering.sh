# The firmware hangs while its chip keeps running: the daemon reports it, waits, and resumes with the firmware.
plug
configure
model rate 100k
start_daemon
await has_records 50000
model hang on
await daemon_says 'waiting for it to come back'
model hang off
await daemon_says 'the board is back'
send_more 100000
finish_capture
account bus="$(value bus "$counts")" link="$(value link "$counts")"
same gaps "$(value gaps "$counts")" 1
measured "$counts"
