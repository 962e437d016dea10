# The next session first receives stale bytes of an earlier session, which survived a purge of the chip.
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
measured "$counts after 64 KiB of the session before"
