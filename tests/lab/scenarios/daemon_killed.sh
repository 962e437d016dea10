# kill -9 in mid-capture, then a restart: the files are readable to their last whole block, the board is stopped and
# armed again, and the next capture is exact.
plug
configure
model rate 200k
start_daemon
await has_records 200000
kill -KILL $daemon
wait $daemon || true
written=0
for file in out/lab_*; do
    bustap recover -o "recovered.byu.gz" "$file" >recover.txt 2>&1 || cat recover.txt
done
first=$(lab_check recovered.byu.gz) || fail "lab_check: $first"
[ "$(value records "$first")" -ge 200000 ] || fail "less than was written: $first"
mkdir before
mv out/lab_* before
start_daemon
await has_records 200000
finish_capture
account
measured "$(value records "$first") records before, $counts"
