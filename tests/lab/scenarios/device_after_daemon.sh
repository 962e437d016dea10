# The daemon waits, the board is plugged in, and a hot-plug event starts the capture long before the retry timer.
RETRY=1h configure
start_daemon
await daemon_says 'no FTDI board with serial number BT0001'
plug
capture_all 100000 200k
account
measured "$counts"
