# The kernel's limit for USB transfers: a small limit suffices; if other programs have used it up, the error reports
# the figures.
limit=/sys/module/usbcore/parameters/usbfs_memory_mb
usual=$(cat $limit)
plug 0
plug 1
configure
echo 1 >$limit
model requests 50000
model rate 200k
start_daemon
await counter_is queued -ge 4
few=$(counter queued)
[ "$few" -le 6 ] || fail "$few transfers of 128 KiB are more than three quarters of 1 MiB"
await state_is finished
stop_daemon
check_capture
account
small=$counts

# another program uses 8 of 8 MiB
rm -r out
echo 16 >$limit
model 1 rate 1k
bustap capture --quiet --board ftdi:serial=BT0002 -o other >other.txt 2>&1 3>&- &
await counter_is 1 sent -ge 100
echo 8 >$limit
start_daemon
await daemon_says 'the kernel allows 8 MiB for all USB transfers'
stop_daemon # the doctor does not open a board that is in use
refused 'usbfs\|MiB' bustap doctor ftdi:serial=BT0001
echo "$usual" >$limit
measured "$small in $few transfers; $(grep -o 'the kernel allows[^;]*' daemon.log | head -n 1)"
