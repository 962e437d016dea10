# Two boards at once, an FT232H and an FT2232H, chosen by their serial numbers.
model 1 chip 2232h
plug 0
plug 1
refused 'more than one FTDI board' bustap capture --board ftdi -o x
configure
printf '%s\n' '[capture second]' 'board = ftdi:serial=BT0002' 'output = out/second' 'packing = plain' >>conf
model 0 requests 60000
model 0 rate 50k
model 1 requests 40000
model 1 rate 50k
start_daemon
await counter_is 0 sent -eq 60000
await counter_is 1 sent -eq 40000
second_finished() { [ "$(status -c second state)" = finished ]; }
await state_is finished
await second_finished
stop_daemon
check_capture out/second
same "records of the second" "$(value records "$counts")" 40000
check_capture
account
measured "60000 and 40000 records"
