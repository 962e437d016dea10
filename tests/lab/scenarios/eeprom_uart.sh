# A chip in UART mode, the factory setting.
model eeprom uart
plug
configure
start_daemon
await daemon_says 'not set to 245 FIFO mode'
stop_daemon # the doctor does not open a board that is in use
refused '245' bustap doctor ftdi:serial=BT0001
measured "$(grep -o 'the EEPROM of its USB chip[^;]*' daemon.log | head -n 1)"
