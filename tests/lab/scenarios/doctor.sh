# A good board: the doctor reports no problem, and measures the link with the board's test pattern. The doctor waits a
# second for the pattern, which may be too short on a busy machine.
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
