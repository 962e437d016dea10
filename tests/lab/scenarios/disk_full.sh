# The disk is full, then has space again: the capture continues in the same set of files, and the requests dropped
# meanwhile are counted.
mkdir out
mount -t tmpfs -o size=1m small out
plug
configure
model rate 400k
start_daemon
await has_records 100000
disk_lost() { [ "$(status disk)" -gt 200000 ]; }
await disk_lost
mount -o remount,size=64m out
now_written() { [ "$(status records)" -gt "$written" ]; }
written=$(status records)
await now_written
model rate 0
finish_capture
account bus="$(counter lost)" disk=any # a slow machine may not read 400k requests a second
measured "$counts"
