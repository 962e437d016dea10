#!/bin/bash
# bustapd packs files that are old enough, while it captures: the same records, one name at a time, the ring and
# follow see one capture; the status and the log say what was saved.
set -eu
. "$TOP/tests/host/daemon.sh"

printf '#!/bin/sh\ntest -e "$BUSTAP_FILE" && echo "$BUSTAP_FILE" >>names\nsleep 0.05\n' >note
chmod +x note
add_capture once 'board = virtual:smp=2,requests=300000' 'rotate = size=50K' 'exec-on-file = ./note' 'pack-after = 0s' \
    'pack-level = 7'
add_capture ring 'board = virtual:smp=2,rate=40000' 'rotate = size=60K' 'keep = 8'
add_capture plain 'board = virtual:smp=2,requests=30000' 'pack-after = never'
printf '[daemon]\npack-after = 1s\npack-level = 2\n' >>conf
bustapd -c conf --check | grep -q 'no errors'

# left-over files of a process that was killed; what only looks like one stays
mkdir out
touch out/ring_00001_20200101T000000Z.byb.part-{1,27} out/ring_00001_20200101T000000Z.byb.part-x \
    out/ring_00001_20200101T000000Z.byu.gz.part-1 out/rings_00001_20200101T000000Z.byb.part-1
start_daemon
await [ ! -e out/ring_00001_20200101T000000Z.byb.part-27 ]
[ ! -e out/ring_00001_20200101T000000Z.byb.part-1 ] && [ "$(ls out/*.part-* | wc -l)" -eq 3 ] || fail "$(ls out)"
rm out/*.part-*

# one capture: every file is packed, after its command, which saw the first name
packed() { status ".captures[] | select(.name == \"$1\").packed.$2"; }
await is_state once finished
wrote=$(grep -c 'capture once: wrote' log)
[ "$wrote" -gt 3 ] || fail "only $wrote files"
all_packed() { [ "$(packed once files)" -eq "$wrote" ]; }
await all_packed
[ "$(ls out/once_*)" = "$(sed 's/byu\.gz$/byb/' names)" ] && [ "$(wc -l <names)" -eq "$wrote" ] || fail "$(ls out)"
[ "$(grep -c 'bustapd: capture once: packed out/once_.*byb: [0-9]* of [0-9]* bytes' log)" -eq "$wrote" ] || fail lines
verify_files out/once_*
[ "$(cat out/once_* | wc -c)" -eq "$(packed once bytes)" ] || fail "$(packed once bytes)"
[ "$(($(packed once bytes_before) - $(packed once bytes)))" -eq "$(packed once saved_bytes)" ]
[ "$(packed once saved_bytes)" -gt 0 ] && [ "$(packed once error)" = null ] && [ "$(packed once level)" -eq 7 ] || fail
ctl status >text
grep -q "^  packer: [a-z]*, $wrote files packed, [0-9]* bytes saved$" text || fail "$(cat text)"
[ "$(status '.captures[] | select(.name == "plain").packed')" = null ] || fail 'plain is packed'
[ -z "$(ls out/plain*.byb 2>/dev/null)" ]

# the daemon's own settings; the ring has eight files, whatever their names; no other thread has this priority
ring_is_mixed() { [ "$(packed ring files)" -gt 8 ]; }
await ring_is_mixed
[ "$(packed ring level)" -eq 2 ] && [ "$(packed ring after_s)" = 1 ] || fail "$(status .)"
for task in /proc/"$daemon"/task/*; do
    [ "$(cat "$task/comm")" = packer ] && policy=5 || policy=0
    [ "$(sed 's/.*) //' "$task/stat" | cut -d ' ' -f 39)" -eq $policy ] || fail "$(cat "$task/stat")"
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
    files=$(ls out/ring_* | sed 's/.*_\(0*[0-9]*\)_2.*/\1/' | sort -u | wc -l)
    [ "$files" -le 10 ] || fail "$files files: $(ls out)" # eight, the open one, and one that is just leaving
    sleep 0.1
done

# killed at any time: no file is lost or doubled, and the next daemon continues
end_daemon KILL
sed -i 's/pack-after = never/pack-after = 0s/; s/^stop.*//' conf
start_daemon
is_packed() { [ "$(packed plain files)" -gt 0 ] && [ "$(packed ring files)" -gt 3 ]; }
await is_packed
twice=$(grep -o 'packed out/once_[^:]*' log | sort | uniq -d)
[ -z "$twice" ] || fail "twice: $twice"
stop_daemon
names=$(ls out/ring_* | grep -v part)
[ "$(wc -w <<<"$names")" -eq 8 ] || fail "$names"
verify_files out/plain_*
