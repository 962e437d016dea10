#!/bin/bash
# recover does not overwrite its input or a running capture's files; the output gets its name when it is complete.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "$*"
    cat err
    exit 1
}
refused() { # STATUS WORDS COMMAND...
    local status=0 wanted=$1 words=$2
    shift 2
    "$@" 2>err || status=$?
    [ "$status" -eq "$wanted" ] && grep -q "$words" err || fail "$*: status $status"
}

make_capture file_records=2000 block_records=150 p
head -c 9000 p_1.byu.gz >x.part
cp x.part before

# the output's name with .part is the input
for force in --force ''; do
    rm -f x
    # shellcheck disable=SC2086 # a word or none
    bustap recover $force x.part -o x 2>err || [ $? -eq 1 ] || fail "not saved"
    cmp x.part before
    [ "$(zcat x | wc -c)" -gt 12000 ] || fail "little was saved"
done
cp x whole

# the output is the input, by each name
ln x.part hard && ln -s x.part soft
for name in x.part ./x.part hard soft; do
    refused 2 'is read: the recovered file needs another name' bustap recover --force x.part -o $name
done
refused 2 'is read' sh -c 'exec bustap recover x.part -o - >>x.part'
cmp x.part before

# an existing file and a dangling link are not replaced without --force
refused 3 'already' bustap recover x.part -o x
ln -s nowhere dangling
refused 3 'already' bustap recover x.part -o dangling
refused 3 'is not a regular file' bustap recover --force x.part -o dangling
[ ! -e nowhere ]

# an impossible name: no message says that records are saved
refused 3 'File name too long' bustap recover x.part -o "$(printf 'x%.0s' {1..256})"
! grep -q saved err || fail "saved without a name"

# interrupted: an existing file is kept, and no other file is left
mkdir out
cp whole out/old
for name in old new; do
    for signal in KILL TERM HUP; do
        mkfifo out/pipe
        bustap recover --force out/pipe -o out/$name 2>err &
        recover=$!
        exec {pipe}>out/pipe
        cat p_1.byu.gz >&$pipe
        rm out/pipe
        sleep 0.1 # enough to read that, usually
        kill -$signal $recover
        wait $recover 2>/dev/null || true
        exec {pipe}>&-
        # without unnamed files, a killed process leaves a named one
        [ "$(ls -A out | grep -v '^old\.part-1$\|^new\.part-1$')" = old ] || fail "left: $(ls -A out)"
        cmp out/old whole
    done
done

# a running capture's files, under all names that it may use later
bustap capture -q --board virtual:smp=1,rate=1000 -o run/c --rotate time=200ms &
capture=$!
until ls run/c_00002_*.byu.gz >/dev/null 2>&1; do
    kill -0 $capture || fail "the capture has ended"
    sleep 0.05
done
for name in $(ls run/c_*) run/c_00009_20000101T000000Z.byu.gz run/.c.lock; do
    refused 3 'belongs to a capture that is running' bustap recover --force x.part -o "$name"
    refused 3 'belongs to a capture that is running' bustap convert --to byu x -o "$name"
    refused 3 'belongs to a capture that is running' bustap dcfg build x -o "$name"
done
bustap recover --force "$(ls run/c_00001_*)" -o run/c 2>err || [ $? -eq 1 ] || fail "an unused name was refused"
kill -INT $capture
wait $capture || fail "the capture ended with $?"
rm run/c
bustap verify run/* >err || fail "the capture is not complete"
bustap recover --force x.part -o "$(ls run/c_00001_*)" 2>err || [ $? -eq 1 ] || fail "refused after the capture"
