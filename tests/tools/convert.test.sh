#!/bin/bash
# bustap convert: to each format and back, compressed or not, from files and pipes, captures of
# several files. The output is written completely or not at all.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
make_trace 5000 >trace.byu
for source in trace.byu ${SHARED:+$SHARED/data/pentium2.byu}; do
    [ -f "$source" ] || continue
    bustap convert --force "$source" --to byu -o plain.byu 2>/dev/null
    b2a plain.byu >plain.txt
    b2a "$source" 2>/dev/null | cmp - plain.txt
    for format in byu byu-lp64 csv npy; do
        for suffix in '' .gz .bz2; do
            case $format$suffix in byu*.bz2) continue ;; esac # BYU records are read plain or gzipped
            bustap convert --force "$source" --to $format -o out.$format$suffix 2>/dev/null
            bustap convert --force --from $format out.$format$suffix -o again.byu
            cmp again.byu plain.byu
            [ $format = byu ] || bustap convert --force --from $format --to byu -o - - <out.$format$suffix | cmp - plain.byu
        done
    done
    # these formats keep a part of a record; a second conversion loses nothing more
    for format in din lackey gem5 champsim oracle libcachesim-csv; do
        bustap convert --force "$source" --to $format -o first 2>err
        grep -q '^bustap: [a-z]' err || [ $format = gem5 ]
        bustap convert --force --from $format first -o back.byu
        bustap convert --force back.byu --to $format -o second 2>/dev/null
        bustap convert --force --from $format --to byu -o - second | cmp - back.byu || [ $format = champsim ]
        bustap convert --force "$source" --to $format -o - 2>/dev/null | cmp - first
    done
done

# the files of a capture, in any order
make_capture files=3 file_records=600 block_records=100 set
bustap convert --force set_3.byu.gz set_1.byu.gz set_2.byu.gz --to csv -o set.csv
bustap dump --csv set_1.byu.gz set_2.byu.gz set_3.byu.gz | cmp - set.csv
# filters and losses keep times: ticks of the chosen records differ by the same amounts
since() { awk -F, 'NR == 1 { next } NR > 2 { print $2 - last } { last = $2 }'; }
make_capture files=2 file_records=9000 block_records=700 link=9 gap_ms=30 lossy
for filter in type=FETCH processor=2 'type!=FETCH and processor!=1' address=0-0xffffffff; do
    bustap dump --csv -f "$filter" lossy_1.byu.gz lossy_2.byu.gz 2>/dev/null >chosen.csv
    since <chosen.csv >wanted
    [ -s wanted ]
    for format in byu byu-lp64 npy csv; do
        bustap convert --force --from csv --to $format -o kept.$format - <chosen.csv
        bustap convert --force --from $format kept.$format --to csv -o - | since | cmp - wanted ||
            { echo "times of $filter in $format"; exit 1; }
    done
    # ticks suffice, without the column time
    cut -d, -f 2-7 chosen.csv | bustap convert --force --from csv --to byu -o - - | b2a | awk '{ print $NF }' | tail -n +2 |
        cmp - wanted || { echo "ticks of $filter"; exit 1; }
done
cut -d, -f 3-7 chosen.csv | bustap convert --force --from csv --to byu -o none.byu - 2>err
grep -q "^bustap: standard input: requests without a time (set to 0): " err
bustap convert --force set_[123].byu.gz --to libcachesim-csv -o ticks.csv --time-unit tick 2>/dev/null
bustap convert --force set_[123].byu.gz --to libcachesim-csv -o us.csv --time-unit us 2>/dev/null
clock=$(bustap info --json set_[123].byu.gz | jq '[.. | .clock_hz? // empty][0]')
paste -d, ticks.csv us.csv | awk -F, -v clock="$clock" '
    NR > 1 && $5 != int($1 * 1000000 / clock) { print "line " NR ": " $0; exit 1 }'

# a failed conversion leaves no file and keeps an existing one
echo precious >kept.din
if bustap convert --force trace.byu nothing.byu -o kept.din 2>/dev/null; then exit 1; fi
[ "$(cat kept.din)" = precious ]
[ -z "$(find . -name '*part*')" ]

# ChampSim's traces come as .xz
if command -v xz >/dev/null; then
    bustap convert --force trace.byu -o instructions.champsim 2>/dev/null
    bustap convert --force instructions.champsim -o from_plain.byu
    xz instructions.champsim
    bustap convert --force instructions.champsim.xz -o from_xz.byu
    cmp from_plain.byu from_xz.byu
fi

# a damaged file is converted up to the damage
bustap convert --force trace.byu -o whole.din.gz 2>/dev/null
head -c 3000 whole.din.gz >cut.din.gz
status=0
bustap convert --force cut.din.gz -o cut.byu 2>why || status=$?
[ $status = 1 ]
grep -q 'cut.din.gz' why
bustap convert --force whole.din.gz -o whole.byu
size=$(stat -c %s cut.byu)
[ "$size" -gt 1200 ]
head -c "$size" whole.byu | cmp - cut.byu
