# The capture is stopped while the disk is full: its last file reports the number of missing requests.
mkdir out
mount -t tmpfs -o size=1m small out
plug
configure
model rate 400k
start_daemon
disk_lost() { [ "$(status disk)" -gt 200000 ]; }
await disk_lost
model rate 0
finish_capture
account bus="$(counter lost)" disk=any # a slow machine may not read 400k requests a second
verify_says 'disk'
measured "$counts"
