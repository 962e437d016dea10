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
# A board that is slow to answer is opened again, and each time the bytes come again.
attempts=$((1 + $(grep -c 'does not answer' daemon.log || true)))
same "stale bytes" "$(value swallowed "$answer")" $((65536 * attempts))
measured "$counts after $attempts times 64 KiB of the session before"
