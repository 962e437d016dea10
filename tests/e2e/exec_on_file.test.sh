#!/bin/bash
# --exec-on-file of capture and exec: each complete file once, in order; failures; commands that hang; signals.
set -eu
trap 'echo "line $LINENO"; [ ! -e err ] || cat err' ERR
board=virtual:smp=2,requests=100000
cat >note <<'END'
#!/bin/sh
[ -s "$1" ] && [ ! -e "$1.part" ] || exit 9
echo "$BUSTAP_FILE $BUSTAP_RECORDS $BUSTAP_LOST $BUSTAP_REASON"
echo "$BUSTAP_FILE $BUSTAP_PREFIX" >>"$BUSTAP_PREFIX.files"
END
printf '#!/bin/sh\nexit 3\n' >failing
printf '#!/bin/sh\necho $$ >>processes\nexec sleep 1000\n' >hanging
chmod +x note failing hanging
trap 'kill $(cat processes) 2>/dev/null || true' EXIT

# every file, once, in order, complete; the command's output does not mix with ours
bustap capture -q --board $board -o all/a --rotate size=20K --exec-on-file ./note --print-names >names 2>err
ls all/a_*.byu.gz | cmp - names
cut -d ' ' -f 1 all/a.files | cmp - names
[ "$(wc -l <names)" -ge 5 ]
sed -i '/^bustap: waiting/d' err
cut -d ' ' -f 1 err | cmp - names
[ "$(awk '{ sum += $2 } END { print sum }' err)" -eq "$(bustap dump all/a_* | wc -l)" ]
[ "$(awk '{ print $3 $4 }' err | uniq -c | awk '{ print $2 }' | xargs)" = '0rotated 0source' ]
# programs from PATH, with arguments; files may be moved away
mkdir moved
bustap capture -q --board $board -o away/a --rotate size=20K --exec-on-file 'mv  -t moved' 2>err
[ "$(ls moved | cut -d _ -f 2)" = "$(cut -d _ -f 2 names)" ]
[ -z "$(ls away)" ]
# windows and snapshots have their reasons
bustap capture -q --board $board -o win/a --trigger type=SHUTDOWN --pre 10 --exec-on-file ./note 2>err
sed -i '/^bustap: waiting/d' err
[ "$(awk '{ print $4 }' err | sort | uniq -c | awk '$1 > 1 { print $2 }')" = match ]

# failures: reported once, then counted; the capture is complete
status=0
bustap capture --board $board -o fail/a --rotate size=20K --exec-on-file ./failing --json >json 2>err || status=$?
[ $status -eq 3 ]
[ "$(grep -c 'command ./failing ended with exit status 3; its file is fail/a_00001_' err)" -eq 1 ]
files=$(jq .files json)
grep -q "command ./failing failed for $files of $files files" err
jq -e '.complete and .exec_on_file == { run: .files, failed: .files, skipped: 0, waiting: 0 }' json >/dev/null
bustap verify fail/a_* >verdict
usage() {
    local status=0
    bustap capture --board $board -o "${3:-none/n}" --exec-on-file "$2" 2>err || status=$?
    [ $status -eq 2 ] && grep -qF -e "$1" err || { cat err; exit 1; }
}
usage 'there is no program nonesuch in the folders of PATH' 'nonesuch -x'
usage './note/x is not an executable program' ./note/x
usage 'the command is empty' ' '
usage 'needs a prefix: a stream has no files' true -
[ ! -e none ]

# a command that hangs holds up neither the capture nor a signal
bustap capture -q --board $board -o hang/a --rotate size=20K --exec-on-file ./hanging 2>err &
capture=$!
until grep -q 'waiting for --exec-on-file' err && [ -s processes ]; do sleep 0.05; done
[ -z "$(ls hang | grep part)" ] || { ls hang; exit 1; }
kill $capture
status=0
wait $capture || status=$?
[ $status -eq 3 ]
grep -q 'command ./hanging still runs for hang/a_00001_.*, and is left alone' err
grep -q "command ./hanging was not run for $((files - 1)) files, from this one on: hang/a_00002_" err
kill -0 "$(cat processes)"
# a second request, half a second after the first, ends the process at once
bustap capture -q --board virtual:smp=2 -o twice/a --exec-on-file ./hanging 2>err &
capture=$!
until ls twice/*.part >/dev/null 2>&1; do sleep 0.05; done
kill $capture
until grep -q 'waiting for --exec-on-file' err; do sleep 0.05; done
while kill $capture 2>/dev/null; do sleep 0.1; done
status=0
wait $capture 2>/dev/null || status=$?
[ $status -eq 143 ]
grep -q 'all files are complete, but --exec-on-file was not finished' err
bustap verify twice/a_* >verdict

# programs
[ -z "$NO_EXEC" ] || exit 0
bustap exec -q -o prog/p --rotate size=4K --exec-on-file ./note -- /bin/echo hello >out 2>err
[ "$(cat out)" = hello ]
ls prog/p_*.byu.gz >names
cut -d ' ' -f 1 prog/p.files | cmp - names
status=0
bustap exec -q -o prog/f --exec-on-file ./failing -- /bin/true 2>err || status=$?
[ $status -eq 3 ]
grep -q 'exit status 3; its file is prog/f_00001_' err
# the program's status is first; a signal ends the wait
rm err # the last one waited, too
bustap exec -q -o prog/h --exec-on-file ./hanging -- /bin/sh -c 'exit 5' 2>err &
capture=$!
until grep -qs 'waiting for --exec-on-file' err; do sleep 0.05; done
kill $capture
status=0
wait $capture || status=$?
[ $status -eq 5 ]
grep -q 'still runs for prog/h_00001_' err
