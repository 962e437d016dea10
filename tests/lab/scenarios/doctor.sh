# A board in order: the doctor finds nothing, and measures the link with the board's pattern. The doctor waits a second
# for the pattern, which may be less than a machine needs that has no time for its guests.
plug
healthy() {
    bustap doctor --self-test-size 8 ftdi:serial=BT0001 >doctor.txt 2>&1
}
for attempt in 1 2 3; do
    ! healthy || break
    cat doctor.txt
    [ "$attempt" -lt 3 ] && grep -q 'sent no pattern' doctor.txt || fail "the doctor finds something"
done
cat doctor.txt
measured "$(grep -i 'MB/s' doctor.txt | head -n 1)"
