# Duplicated frames are stored once.
plug
configure
model fault duplicate 5 20
capture_all 100000 200k
same faults "$(counter faults)" 20
account
measured "$counts, 20 frames twice"
