# group: bench
# alone
# seconds: 200
# The daemon at 40 MB/s, from USB to files: its processor time, to be compared with that of bench_usb's bare loop
# at the same rate.
plug
configure 'rotate = size=64M'
model rate 40MB
model requests 32800000
start_daemon
await counter_is sent -ge 1
before=$(awk '{ print $14 + $15 }' /proc/$daemon/stat)
WAIT_SECONDS=60 await counter_is sent -eq 32800000
WAIT_SECONDS=60 await state_is finished
after=$(awk '{ print $14 + $15 }' /proc/$daemon/stat)
stored=$(du -m out | cut -f 1)
stop_daemon
model counters
measured "400 MB of frames, $(value lost "$answer") of 32800000 requests lost, cpu=$(
    echo $((after - before)) | awk '{ printf "%.2f", $1 / 100 }'), files of $stored MiB"
