#!/bin/bash
# Commands refuse files that are not traces, and several traces where they expect one.
set -eu
PATH="$BUILD/tests/e2e:$PATH"
. "$TOP/tests/tools/input_commands.sh"
studies=("${commands[@]:4}")

# --- no trace ---

: >empty
gzip -nk empty
make_capture file_records=0 files=1 nothing
make_trace --types all 3000 >t.byu
make_capture file_records=3000 c
head -c 20000 "$TOP/README.md" >README.md
printf '\211PNG\r\n\032\n\000\000\000\rIHDR' >picture.png
head -c 30000 "$BUILD/bustap" >>picture.png
head -c 4096 /dev/zero >zeros
printf 'short\n' >short
gzip -nk README.md
for file in README.md picture.png zeros short README.md.gz; do
    for command in "${commands[@]}"; do
        runs 3 $command $file
        grep -q "^bustap: $file is not a trace: .*--raw" err || fail "bustap $command $file"
        [ "$command" = info ] || [ ! -s out ] || fail "bustap $command $file: has printed"
        [ ! -e r.byu.gz ] && [ ! -e g.json ] || fail "bustap $command $file: has written"
    done
    runs 0 info --raw $file
done
runs 3 verify README.md
for command in "${commands[@]}"; do
    case $command in dcfg*) continue ;; esac # it needs fetches of possible processors
    runs 0 $command --raw picture.png
done
for command in "$cache" mrc 'plot --csv' 'convert --to csv -o -'; do
    runs 0 $command --from byu README.md
done
for command in dump info mrc "$cache"; do
    status=0
    zcat README.md.gz | bustap $command - >out 2>err || status=$?
    [ $status -eq 3 ] || fail "bustap $command from a pipe"
    grep -q '^bustap: standard input is not a trace: ' err
done
make_trace --lp64 3000 >wide.byu
for command in "${commands[@]}"; do
    runs 3 $command wide.byu
    grep -q 'with --lp64' err || fail "bustap $command wide.byu"
    runs 0 $command --lp64 wide.byu
done
# a virtual board refuses them, too; its message names an option of recover, which capture lacks
for file in README.md zeros short; do
    runs 3 capture --board virtual:replay=$file -o p -q
    grep -q "$file is not a trace: .*; bustap recover --raw makes a capture of it" err
    ! grep -q -- '[^r] --raw' err || exit 1
done
runs 3 capture --board virtual:replay=wide.byu -o p -q
grep -q 'bustap recover --lp64 makes a capture of it' err
bustap convert t.byu -o p.din
runs 3 capture --board virtual:replay=p.din -o p -q
grep -q 'p.din is in the format din: a board replays BYU records; convert it with bustap convert' err
runs 0 recover --lp64 wide.byu -o saved.byu.gz
runs 0 capture --board virtual:replay=saved.byu.gz -o p -q
rm -f p_*
for file in /dev/null empty empty,loop empty.gz nothing_1.byu.gz; do
    runs 3 capture --board virtual:replay=$file -o p -q
    grep -q "${file%,*} holds no records to replay" err || fail "replay=$file"
    [ -z "$(find . -name 'p_*')" ]
done

# --- empty files ---

# reports STATUS FILE COMMAND...: the command reports once that FILE is empty
reports() {
    local file=$2
    runs "$1" "${@:3}"
    grep -qx "bustap: $file is empty" err || fail "bustap ${*:3}: no report"
    [ "$(grep -c ' is empty$' err)" -eq 1 ] || fail "bustap ${*:3}: two reports"
}
for command in "${commands[@]}" verify; do
    status=0
    case $command in verify | recover* | cut* | dcfg*) status=1 ;; esac
    for file in empty empty.gz; do
        reports $status $file $command $file
        grep -v "^bustap: $file is" err >others || true
        [ "$command" != verify ] || grep -qx "INCOMPLETE: $file is empty" out
        reports $status $file $command --raw $file
        grep -v "^bustap: $file is" err | diff others -
    done
    reports $status 'standard input' $command --raw -
done
for format in byu byu-lp64 csv npy din lackey champsim gem5 oracle libcachesim-csv; do
    for file in empty empty.gz; do
        reports 0 $file convert --from "$format" -t csv -o - $file
        for command in mrc "$cache" 'plot --csv'; do
            reports 0 $file $command --from "$format" $file
        done
    done
done
for suffix in csv npy din lackey champsim gem5 oracle lcs.csv lp64; do
    cp empty e.$suffix
    cp empty.gz e.$suffix.gz
    for file in e.$suffix e.$suffix.gz; do
        reports 0 $file convert -t csv -o - $file
        reports 0 $file mrc $file
    done
done
# a file truncated before its first record is damaged, not empty
head -c 15 empty.gz >cut.din.gz
for command in 'convert -t csv -o -' mrc; do
    runs 1 $command cut.din.gz
    ! grep ' is empty' err || exit 1
    runs 1 $command --raw cut.din.gz
    ! grep ' is empty' err || exit 1
done

# --- one study, one trace ---

make_capture seed=2 files=3 file_records=2000 d
make_trace --seed 3 500 >u.byu
for command in "${studies[@]}"; do
    runs 0 $command d_3.byu.gz d_1.byu.gz d_2.byu.gz
    mv out one
    for files in 'c_1.byu.gz d_1.byu.gz d_2.byu.gz d_3.byu.gz' 't.byu u.byu' 't.byu c_1.byu.gz' 't.byu t.byu'; do
        runs 2 $command $files
        grep -q '^bustap: 2 traces are given (--concatenate ' err || fail "bustap $command $files"
        [ ! -s out ] && [ ! -e g.json ] || fail "bustap $command $files: has written"
        runs 0 $command --concatenate $files
    done
    cat c_1.byu.gz d_1.byu.gz >cat.byu.gz
    runs 2 $command cat.byu.gz
    grep -q 'another trace begins here' err || fail "bustap $command cat.byu.gz"
    runs 0 $command --concatenate cat.byu.gz
    # a missing file
    runs 1 $command d_1.byu.gz d_3.byu.gz
    grep -q '^bustap: file 2 is missing between d_1.byu.gz and d_3.byu.gz' err || fail "bustap $command: a hole"
    # a file twice, under two names
    cp d_2.byu.gz same.byu.gz
    runs 1 $command d_1.byu.gz d_2.byu.gz same.byu.gz d_3.byu.gz
    grep -q '^bustap: d_2.byu.gz and same.byu.gz both hold file 2$' err || fail "bustap $command: a file twice"
done
runs 2 $cache c_1.byu.gz d_1.byu.gz
grep -q 'c_1.byu.gz (made for a test, started 2026-.*, id [0-9a-f]*), d_1.byu.gz (' err

# dump prints one file after the other: indexes and ticks restart with each
runs 0 dump --csv u.byu u.byu
[ "$(grep -c '^0,' out)" -eq 2 ]
