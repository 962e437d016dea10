# Octets of no meaning between frames cost nothing.
plug
configure
model fault garbage 3 30
capture_all 100000 200k
same faults "$(counter faults)" 30
account
measured "$counts, 30 times garbage"
