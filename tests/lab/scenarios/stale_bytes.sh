# What an earlier session left in the chip, and survives a purge, comes first in the next session.
plug
configure
capture_all 50000 200k
account
first=$counts
model stale on
rm -r out
start_daemon
capture_all 50000 200k
account
same "stale bytes" "$(value swallowed "$answer")" 65536
measured "$counts behind 64 KiB of the session before"
