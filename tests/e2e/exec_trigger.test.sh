#!/bin/bash
# Triggers of executed programs: the windows of a run are those that awk cuts out of the whole capture of another run.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
. "$TOP/tests/e2e/windows_twin.sh"
program=(/bin/echo hello) # each run makes the same references
run() { # OPTION...: the program's output is its own
    local status=0
    bustap exec "$@" -- "${program[@]}" >output 2>err || status=$?
    [ "$status" -eq 0 ] && [ "$(cat output)" = hello ] || { echo "$*: $status"; cat output err; exit 1; }
}
whole() { bustap verify "$@" >verdict || { cat verdict; exit 1; }; }
run -q -o all/a
bustap dump --csv all/a_*.byu.gz | tail -n +2 >all.csv

# an address that is written now and then
address=$(awk -F, '$4 == "MEMWRITE" { print $3 }' all.csv | sort | uniq -c | awk '$1 >= 5 && $1 <= 40 { print $2; exit }')
awk -F, -v OFS=, -v address="$address" '$3 == address && $4 == "MEMWRITE" { $4 = "MATCH" } 1' all.csv >marked.csv
mv all.csv kept.csv && mv marked.csv all.csv
for form in '0 0' '100 50' '3000 200'; do
    read -r pre post <<<"$form"
    rm -rf t
    run -q -o t/t --trigger "type=MEMWRITE and address=$address" --pre "$pre" --post "$post"
    twin MATCH "$pre" "$post" | sed 's/MATCH/MEMWRITE/' >wanted
    saved t/t >got
    [ -s wanted ]
    cmp wanted got || { echo "$form"; exit 1; }
    whole t/t_*.byu.gz
done
mv kept.csv all.csv
grep -q '^bustap: trigger: ' err && { echo 'a quiet run reports'; exit 1; }

# in instructions, which are the ticks of a program
run -o ticks/t --trigger "index=5000" --pre 100ticks --post 50ticks
grep -qE '^bustap: trigger: 1 match in 1 window; [0-9]+ records outside were not saved$' err || { cat err; exit 1; }
at=$(sed -n 5001p all.csv | cut -d, -f 2)
awk -F, -v at="$at" '$2 + 100 >= at && $2 <= at + 50' all.csv | cut -d, -f 2-7 >wanted
bustap dump --csv ticks/t_*.byu.gz | tail -n +2 | cut -d, -f 2-7 | cmp wanted -
whole ticks/t_*.byu.gz

# a stop: the program continues to its end, the capture ends
run -o stop/s --stop-on index=1000 --post 10
grep -q '^bustap: stopped by a match: record 1000 at tick' err || { cat err; exit 1; }
head -n 1011 all.csv >wanted
bustap dump --csv stop/s_*.byu.gz | tail -n +2 | cmp wanted -
whole stop/s_*.byu.gz
run -q -o ring/s --ring 12000 --stop-on index=5000
head -n 5001 all.csv | tail -n 1001 | cut -d, -f 2-7 >wanted
bustap dump --csv ring/s_*.byu.gz | tail -n +2 | cut -d, -f 2-7 | cmp wanted -
whole ring/s_*.byu.gz

# a command for each window
printf '#!/bin/sh\necho "$BUSTAP_FILE $BUSTAP_RECORDS $BUSTAP_REASON" >>list\n' >note
chmod +x note
run -q -o files/t --trigger 'index=2000|4000' --pre 10 --post 10 --exec-on-file ./note
ls files/t_*.byu.gz | cmp - <(cut -d ' ' -f 1 list)
[ "$(head -n 2 list | cut -d ' ' -f 2- | xargs)" = '21 match 21 match' ] || { cat list; exit 1; }

# programs have no clock
status=0
bustap exec -o none/n --trigger type=FETCH --pre 1ms -- true 2>err || status=$?
[ "$status" -eq 2 ] && grep -q 'clock of this capture is unknown: give a number of records or ticks' err || { cat err; exit 1; }
