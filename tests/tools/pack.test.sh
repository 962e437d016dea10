#!/bin/bash
# bustap pack: whatever a capture holds, its packed files say the same; a file goes only when the other is whole.
set -eu
PATH="$BUILD/tests/e2e:$PATH"

# said FILE...: all that commands say of a capture, but for names and sizes
said() {
    bustap verify "$@" || echo "status $?"
    bustap info "$@" | grep -v '^size' || true
    bustap dump "$@" 2>&1
    bustap convert --to byu -o - "$@" 2>&1 | cksum
}

# same NAME=N...: makes a capture, packs it from level to level and compares
same() {
    rm -rf kept packed
    mkdir kept packed
    make_capture "$@" kept/p
    (cd kept && said p_*.byu.gz) | sed 's/\.byu\.gz//g' >expected
    cp kept/* packed/
    for level in 5 1 6 7; do
        bustap pack --in-place --level $level -q packed/p_*
        [ -z "$(ls packed | grep -v '\.byb$')" ] || { ls packed; exit 1; }
        (cd packed && said p_*.byb) | sed 's/\.byb//g' >actual
        cmp expected actual || { echo "$* level $level"; diff expected actual | head; exit 1; }
    done
}
same files=3 file_records=1000 block_records=130
same files=2 file_records=1000 block_records=130 bus=3 link=2 gap_ms=20 lost_at_end=5
same files=2 file_records=900 block_records=100 queue=7 disk=1 gap_uncounted=1 gap_ms=3 after_stop=9
same files=2 file_records=900 block_records=100 gap_chosen=1 gap_parts=3 events=1
same files=1 file_records=0
same files=3 file_records=500 removed=1 keep=2 filtered=5 above_4gib=2 undecoded=1 source_unknown=1

# many blocks and several threads: each block once, in order
make_trace --seed 5 700000 >many.byu
bustap cut -q -o many.byu.gz many.byu
for threads in 2 3 5 3 3 3; do
    bustap pack -q --level 1 -j $threads --force -o many.byb many.byu.gz
    bustap convert --to byu -o - many.byb 2>messages | cmp - many.byu
done
rm many.*

# mode and times stay; concatenated files and pipes are packed, too
make_capture files=2 file_records=700 block_records=90 c
cat c_1.byu.gz c_2.byu.gz >both.byu.gz
chmod 640 both.byu.gz
touch -d '2020-01-02 03:04:05' both.byu.gz
bustap pack --in-place both.byu.gz -j 3 2>said
grep -q '^bustap: both.byb: 1400 records in [0-9]* bytes, [0-9.]* % of [0-9]*$' said
[ "$(stat -c '%a %y' both.byb | cut -c 1-23)" = '640 2020-01-02 03:04:05' ] || { stat both.byb; exit 1; }
[ ! -e both.byu.gz ]
bustap pack - -q -o - <both.byb | bustap dump - | cmp - <(bustap dump c_1.byu.gz c_2.byu.gz)

# a file that cannot be packed stays, and nothing is left beside it
mkdir bad
make_capture file_records=300 block_records=50 unclosed=1 bad/u
make_capture file_records=300 block_records=50 bad/d
printf 'XXXXXXXX' | dd of=bad/d_1.byu.gz bs=1 seek=700 conv=notrunc status=none
make_capture file_records=300 bad/w
cp bad/w_1.byu.gz bad/w_00001_20261120T224500Z.byu.gz.part
zcat bad/w_1.byu.gz >bad/raw.byu
for file in bad/*; do
    cp "$file" before
    status=0
    bustap pack --in-place "$file" 2>errors || status=$?
    case $file in
    *w_1*) [ $status -eq 0 ] && mv bad/w_1.byb bad/w_1.byu.gz; continue ;;
    *.part) wanted=3 ;;
    *raw*) wanted=2 ;;
    *) wanted=1 ;;
    esac
    [ $status -eq $wanted ] && [ -s errors ] || { echo "$file: status $status"; cat errors; exit 1; }
    cmp "$file" before
done
[ "$(find bad -type f | wc -l)" -eq 5 ] || { ls bad; exit 1; }

# a file whose packed form would be larger stays
make_capture file_records=20000 block_records=5000 larger
bustap pack -q --level 7 larger_1.byu.gz -o larger.byb
cp larger.byb before
bustap pack --in-place --level 5 larger.byb --json >said.json 2>said
grep -q "^bustap: larger.byb stays: $(wc -c <larger.byb) bytes; packed it would have [0-9]* bytes$" said || { cat said; exit 1; }
jq -e --argjson bytes "$(wc -c <larger.byb)" '.files[0].bytes == $bytes' said.json >/dev/null || { cat said.json; exit 1; }
cmp larger.byb before

# no space: the file stays
make_capture file_records=60000 block_records=5000 full
cp full_1.byu.gz before
status=0
(
    ulimit -f 8
    trap '' XFSZ
    bustap pack --in-place full_1.byu.gz 2>errors
) || status=$?
[ $status -eq 3 ] || { echo "status $status"; cat errors; exit 1; }
grep -q 'File too large' errors
cmp full_1.byu.gz before
[ "$(find . -name 'full_1*' | wc -l)" -eq 1 ]

# killed at any time, one of the two is whole
for delay in 0.01 0.03 0.06 0.1 0.15 0.2 0.3 0.5; do
    rm -f full_1.byb
    cp before full_1.byu.gz
    bustap pack --in-place --level 7 -j 1 full_1.byu.gz 2>/dev/null &
    sleep $delay
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    if [ -e full_1.byu.gz ]; then
        cmp full_1.byu.gz before
    else
        bustap dump full_1.byb | cmp - <(bustap dump before)
    fi
    [ "$(find . -name 'full_1*' | wc -l)" -le 2 ]
done

# executions of blocks stay so where that is smaller, on every level; the records are the same
if [ -z "$NO_EXEC" ]; then
    bustap exec -q --engine blocks -n 300K --exit -o run -- sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done' || [ $? -eq 1 ]
    mv run_*.byb run.byb
    said run.byb | sed 's/run\.byb//g' >expected
    bustap convert -q --to byu -o run.byu run.byb
    bustap cut -q --raw -o records.byu.gz run.byu
    for level in 1 5 6; do
        bustap pack -q --level $level --force -o packed.byb run.byb
        said packed.byb | sed 's/packed\.byb//g' >actual
        cmp expected actual || { echo "executions, level $level"; diff expected actual | head; exit 1; }
        # bustap exec has told the encoder where blocks begin, bustap pack finds them
        [ "$(stat -c %s packed.byb)" -le "$(($(stat -c %s run.byb) * 102 / 100))" ] || { ls -l packed.byb run.byb; exit 1; }
        bustap pack -q --level $level --force -o columns.byb records.byu.gz
        [ "$(stat -c %s packed.byb)" -lt "$(($(stat -c %s columns.byb) + 1000))" ] || { ls -l packed.byb columns.byb; exit 1; }
    done
    cp run.byb twice.byb
    bustap pack -q --in-place twice.byb
    bustap pack -q -o again.byb twice.byb
    [ "$(stat -c %s again.byb)" -eq "$(stat -c %s twice.byb)" ] || { ls -l again.byb twice.byb; exit 1; }
fi
