#!/bin/bash
# A daemon that is killed within windows: complete windows are whole, the open one has its blocks; the next start
# leaves them alone, and saves the same windows again.
set -eu
. "$TOP/tests/host/daemon.sh"
printf '#!/bin/sh\necho "$BUSTAP_FILE $BUSTAP_REASON" >>"$BUSTAP_PREFIX.files"\n' >note
chmod +x note

add_capture windows 'trigger = type=SHUTDOWN or type=IOREAD' 'pre = 100' 'post = 3000' 'exec-on-file = ./note'
add_capture open 'trigger = type=SHUTDOWN' 'pre = 100' 'post = 1000M' 'exec-on-file = ./note'
start_daemon
await sh -c '[ "$(ls out/windows_*.byu.gz | wc -l)" -ge 5 ] && [ -s out/windows.files ]'
# two blocks of the open window are on the disk
await sh -c '[ "$(cat out/open_*.part | wc -c)" -gt 400000 ]'
end_daemon KILL
[ "$ended" -eq 137 ]
mkdir first
cp out/*.gz out/*.part out/*.files first/
(cd out && sha256sum -- *.gz *.part) >sums

# each complete window is whole, has its matches, and only complete files had their command
for file in first/windows_*.byu.gz; do
    bustap verify "$file" >verdict || true
    grep -q ' 0 lost, rotated$' verdict || fail "$(cat verdict)"
    { bustap info --json "$file" || true; } | jq -es '.[0] | .windows[0].matches > 0' >/dev/null || fail "$file"
done
! grep -v ' match$' first/windows.files || fail 'a command for a file that is no window'
cut -d ' ' -f 1 first/windows.files | xargs ls >/dev/null
[ ! -e first/open.files ] || fail 'a command for the open window'
bustap verify first/windows_*.byu.gz >verdict || true
[ "$(grep -c '^INCOMPLETE' verdict)" -eq 1 ] && grep -q 'the end of the capture is missing' verdict || fail "$(cat verdict)"
bustap verify first/open_*.part >verdict 2>said || true
grep -q 'has no closing block' verdict || fail "$(cat verdict)"
bustap recover first/open_*.part -o recovered.byu.gz 2>said || [ $? -eq 1 ]
bustap dump recovered.byu.gz >recovered
[ "$(wc -l <recovered)" -gt 100000 ]

# the next start: other files; the same bus has the same windows
start_daemon
await has_records open "$(wc -l <recovered)"
await sh -c "[ \"\$(ls out/windows_*.byu.gz | wc -l)\" -ge $(($(ls first/windows_*.byu.gz | wc -l) + 5)) ]"
stop_daemon
(cd out && sha256sum --quiet -c ../sums) || fail 'files of the killed daemon have changed'
(cd first && ls -- *.byu.gz) | (cd out && xargs rm)
rm out/*.part
verify_files out/windows_*
verify_files out/open_*
bustap dump out/open_* | head -n "$(wc -l <recovered)" | cmp - recovered
for number in 1 2 3 4 5; do
    cmp <(bustap dump --csv first/windows_0000$number*) <(bustap dump --csv out/windows_0000$number*)
done
# a command that the kill left may have ended later
(cd first && ls windows_*.byu.gz) | sed 's/^/out\//' >earlier
cut -d ' ' -f 1 out/windows.files | grep -vxFf earlier | cmp - <(ls out/windows_*.byu.gz)
grep -q '^out/open_00001_.* stopped$' out/open.files
