# A port at 12 Mbit/s cannot carry a bus.
model speed full
plug
configure
start_daemon
await daemon_says 'plugged into a slow port: full speed (12 Mbit/s), 64-byte packets'
stop_daemon # the doctor does not open a board that is in use
refused 'slow port\|full speed' bustap doctor ftdi:serial=BT0001
measured "$(grep -o 'plugged into a slow port[^;]*' daemon.log | head -n 1)"
