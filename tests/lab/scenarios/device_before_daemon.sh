# The board is there when the daemon starts.
plug
configure
capture_all 200000 200k
account
measured "$counts"
