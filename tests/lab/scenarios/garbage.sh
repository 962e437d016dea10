# Meaningless octets between frames cause no losses.
plug
configure
model fault garbage 3 30
capture_all 100000 200k
same faults "$(counter faults)" 30
account
measured "$counts, 30 times garbage"
