# The kernel's serial driver is bound to the board, and a program has its tty open: bustap detaches the driver, and
# attaches it again at the end.
plug
await test -c /dev/ttyUSB0
cat /dev/ttyUSB0 >/dev/null 2>&1 &
reader=$!
configure
capture_all 100000 200k
account
wait $reader || true
await test -c /dev/ttyUSB0
measured "$counts; ttyUSB0 was present before and after"
