# A frame that arrives after its successor counts as lost on the link.
plug
configure
model fault reorder 7 10
capture_all 100000 200k
same faults "$(counter faults)" 10
account link="$(counter damaged)"
measured "$counts, 10 frames overtaken"
