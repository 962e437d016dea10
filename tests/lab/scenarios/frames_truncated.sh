# Frames of records arrive damaged: their records are lost on the link, exactly those.
plug
configure
model fault truncate 7 10
capture_all 100000 200k
same faults "$(counter faults)" 10
account link="$(counter damaged)"
measured "$counts of 10 frames"
