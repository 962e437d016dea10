# A board with another protocol version is reported, and nothing is captured from it.
model version 9
plug
configure
start_daemon
await daemon_says 'speaks protocol 9, this bustap speaks 1'
same sent "$(counter sent)" 0
stop_daemon # the doctor does not open a board that is in use
refused 'protocol 9' bustap doctor ftdi:serial=BT0001
! ls out/lab_* 2>/dev/null || fail "there are files"
measured "$(grep -o 'speaks protocol 9[^;]*' daemon.log | head -n 1)"
