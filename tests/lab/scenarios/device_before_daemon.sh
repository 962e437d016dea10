# The board is plugged in before the daemon starts.
plug
configure
capture_all 200000 200k
account
measured "$counts"
