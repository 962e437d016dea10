# A chip that is still set to UART, as from the factory.
model eeprom uart
plug
configure
start_daemon
await daemon_says 'not set to 245 FIFO mode'
stop_daemon # the doctor leaves a board alone that another has just opened
refused '245' bustap doctor ftdi:serial=BT0001
measured "$(grep -o 'the EEPROM of its USB chip[^;]*' daemon.log | head -n 1)"
