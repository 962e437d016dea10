# The kernel's serial driver took the board at the plug, and a program has its tty open: bustap takes it, and
# gives it back.
plug
await test -c /dev/ttyUSB0
cat /dev/ttyUSB0 >/dev/null 2>&1 &
reader=$!
configure
capture_all 100000 200k
account
wait $reader || true
await test -c /dev/ttyUSB0
measured "$counts; ttyUSB0 was there before and is there again"
