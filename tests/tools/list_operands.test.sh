#!/bin/bash
# The operands PREFIX* include PREFIX.modules: commands that read captures skip the list and say so.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
. "$TOP/tests/tools/input_commands.sh"
make_capture files=2 file_records=300 block_records=100 p
printf '/bin/nothing@0x400000\n' >p.modules
note="bustap: p.modules is a list of modules, not a capture: skipped"

for command in verify top doctor 'dcfg fetches' 'dcfg build -o g.json' 'cut -o out' 'convert --to din -o -' \
    'plot --of mix --csv' 'cache --l1 4K,line=32,ways=2' mrc dump info 'merge -o out'; do
    status=0 status_with=0
    rm -f out g.json
    bustap $command p_1.byu.gz p_2.byu.gz >without 2>messages_without || status=$?
    rm -f out g.json
    bustap $command p_1.byu.gz p.modules p_2.byu.gz >with 2>messages_with || status_with=$?
    [ $status = $status_with ] || fail "$command: status $status_with, not $status"
    [ "$(head -n 1 messages_with)" = "$note" ] || fail "$command: no note: $(cat messages_with)"
    tail -n +2 messages_with | cmp - messages_without || fail "$command: other messages"
    cmp without with || fail "$command: other output"
    # lists alone are no captures
    rm -f out g.json
    status=0
    bustap $command p.modules p.modules >with 2>messages_with || status=$?
    [ $status = 2 ] || fail "$command: status $status of lists"
    grep -q "p.modules is a list of modules (doc/modules-file.md), not a capture: give " messages_with ||
        fail "$command: $(cat messages_with)"
    [ ! -s with ] && [ ! -e out ] && [ ! -e g.json ] || fail "$command: output of lists"
done

bustap verify p* >verdict
grep -q "^complete: .* in 2 files, nothing lost" verdict
bustap recover -o out p.modules p_1.byu.gz 2>messages || true
grep -qxF "$note" messages
