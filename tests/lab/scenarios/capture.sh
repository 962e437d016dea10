# A board that is there before the daemon, and everything it saw is in the files.
model rate 200k
model requests 200000
plug
configure
start_daemon
await counter_is state -eq 0
await state_is finished
stop_daemon
check_capture
account
measured "$counts"
