# A board in order: the doctor finds nothing, and measures the link with the board's pattern.
plug
bustap doctor --self-test 8 ftdi:serial=BT0001 >doctor.txt 2>&1 || { cat doctor.txt; fail "the doctor finds something"; }
cat doctor.txt
measured "$(grep -i 'MB/s' doctor.txt | head -n 1)"
