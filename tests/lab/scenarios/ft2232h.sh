# The FT2232H's channel A.
model chip 2232h
plug
configure
capture_all 100000 200k
account
measured "$counts"
