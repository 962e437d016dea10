# A board that speaks another version of the protocol is told as such, and nothing is captured from it.
model version 9
plug
configure
start_daemon
await daemon_says 'speaks protocol 9, this bustap speaks 1'
same sent "$(counter sent)" 0
stop_daemon # the doctor leaves a board alone that another has just opened
refused 'protocol 9' bustap doctor ftdi:serial=BT0001
! ls out/lab_* 2>/dev/null || fail "there are files"
measured "$(grep -o 'speaks protocol 9[^;]*' daemon.log | head -n 1)"
