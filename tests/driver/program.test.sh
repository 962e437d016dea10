#!/bin/bash
# Boards that are programs through the whole capture: the same records as from the virtual board inside; every way in
# which a program can fail is reported; no process is left.
set -eu
board="program:$BUILD/tests/e2e/firmware_board"
records() {
    zcat "$@" >records.raw && cat records.raw
}

bustap capture --quiet --board virtual:smp=3,seed=4,requests=60000 -o a
for packing in plain delta; do
    bustap capture --quiet --packing $packing --board "$board virtual:smp=3,seed=4,requests=60000" -o "b$packing" 2>message
    [ ! -s message ]
    records b"$packing"_*.byu.gz | cmp - <(zcat a_*.byu.gz)
done
bustap verify b*_* >/dev/null
bustap capture --quiet --board "$board virtual:smp=3,seed=4" --stop records=20000 -o limited
bustap verify limited_* >/dev/null

# The tools that name boards.
bustap boards --self-test "$board virtual:smp=1" --json | jq -es '.[0] | .good and .name == "virtual"' >/dev/null
bustap doctor "$board virtual:smp=1" --self-test-size 1 | grep -q 'All is well.'
[ "$(bustap boards --json | jq -r '.virtual[] | select(.specification == "program:COMMAND").specification')" = program:COMMAND ]

# Failures: the exit status, one line, and what it contains.
fails() {
    local expected=$1 line=$2 status=0
    shift 2
    bustap capture --quiet --board "program:$*" -o failed 2>message || status=$?
    cat message
    [ "$status" -eq "$expected" ] || { echo "exit status $status, expected $expected: $*"; exit 1; }
    tail -n 1 message | grep -qF -- "$line" || { echo "not: $line"; exit 1; }
}
fails 2 'the command is empty'
fails 3 'there is no program no-such-program' no-such-program x
fails 3 'bustap: the program cat ended with exit status 1: cat: none: No such' cat none
fails 3 "bytes without one good frame: the program's output is not the protocol of boards" yes
fails 3 'sends nothing; check that the program speaks the protocol of boards on its standard input and output' sleep 1000
! bustap doctor 'program:sleep 1000' >doctor.txt || exit 1
! grep -E 'cable|power|firmware' doctor.txt || exit 1
cat >killed <<'EOF'
#!/bin/sh
kill -KILL $$
EOF
chmod +x killed
fails 3 'bustap: the program killed was killed by signal 9' ./killed
! ls failed_* 2>/dev/null || exit 1

# A program that ends in the middle of a capture: the records before its end are kept; its earlier lines are passed on.
fails 3 'bustap: the program firmware_board ended with exit status 3: firmware_board: out of ?magic' \
    "$BUILD/tests/e2e/firmware_board" virtual:smp=2,rate=max 100000 3
[ "$(head -n 1 message)" = 'firmware_board: a line before' ]
[ "$(wc -l <message)" -eq 2 ]
bustap info --json failed_* | jq -es '.[0] | .records > 10000' >/dev/null
bustap verify failed_* >verified && exit 1
grep -q 'INCOMPLETE.*exit status 3' verified

# The daemon reports a program that ends, starts it again, and ends it with the capture.
cat >conf <<EOF
[daemon]
socket = socket
[capture short]
board = $board virtual:smp=2,seed=$$,rate=max 100000 3
output = short
retry = 100ms
[capture long]
board = $board virtual:smp=2,seed=$$,rate=10000
output = long
EOF
bustapd --check -c conf
bustapd -c conf --socket socket >log 2>&1 &
daemon=$!
for _ in $(seq 600); do # seconds on a busy machine
    reached=$(bustap ctl --socket socket --json status 2>/dev/null |
        jq '(.captures[0].starts >= 3) and (.captures[1].status.records > 1000)')
    [ "$reached" != true ] || break
    sleep 0.1
done
kill -TERM "$daemon"
wait "$daemon"
cat log
grep -q 'capture short: .*ended with exit status 3: firmware_board: out of ?magic' log
bustap verify long_* >/dev/null
! pgrep -f "firmware_board virtual:smp=2,seed=$$,rate" || exit 1
