#!/bin/bash
# recover for captures damaged anywhere: the new file is valid, holds all readable records, and counts
# the missing ones at their place.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "seed $seed: $*"
    exit 1
}

for seed in $(seq 1 24); do
    rm -f ./*.byu.gz
    make_capture seed="$seed" file_records=2000 block_records=150 bus=$((seed % 3)) \
        lost_at_end=$((seed % 2)) p
    size=$(wc -c <p_1.byu.gz)
    at=$(((seed * 7919 + seed * seed * 104729) % size))
    case $((seed % 3)) in
    0) head -c "$at" p_1.byu.gz >damaged.byu.gz ;;
    1) { head -c "$at" p_1.byu.gz; printf '\252\125\252'; tail -c +$((at + 4)) p_1.byu.gz; } \
        >damaged.byu.gz ;;
    2) { head -c "$at" p_1.byu.gz; tail -c +$((at + 300)) p_1.byu.gz; } >damaged.byu.gz ;;
    esac
    # without a valid header, the file is no capture
    [ "$at" -ge 500 ] || continue
    status=0
    bustap recover damaged.byu.gz -o saved.byu.gz 2>err || status=$?
    [ "$status" -le 1 ] || fail "status $status: $(cat err)"
    bustap dump --csv damaged.byu.gz >wanted 2>/dev/null || true
    bustap dump --csv saved.byu.gz 2>err | cmp - wanted || fail "other records"
    gzip -t saved.byu.gz || fail "no gzip file"
    zcat saved.byu.gz | b2a | cmp - <(b2a saved.byu.gz 2>err) || fail "zcat differs"
    bustap verify saved.byu.gz >verdict 2>err || true
    ! grep -q . err || fail "still damaged: $(cat err)"
    bustap info --json damaged.byu.gz >info.json 2>err || true
    if jq -e '.end != "none"' info.json >/dev/null; then
        grep -q '^accounted for\|^complete' verdict || fail "$(cat verdict)"
        total=$(bustap info --json p_1.byu.gz 2>/dev/null | jq '.records + .lost')
        [ "$(bustap info --json saved.byu.gz | jq '.records + .lost')" = "$total" ] ||
            fail "not accounted for"
    else
        grep -q '^INCOMPLETE: the end of the capture is missing' verdict || fail "$(cat verdict)"
    fi
done

# a set with one recovered file is accounted for
rm -f ./*.byu.gz
make_capture seed=7 files=3 file_records=2000 block_records=150 s
size=$(wc -c <s_2.byu.gz)
printf '\1\2\3\4' | dd of=s_2.byu.gz bs=1 seek=$((size / 2)) conv=notrunc 2>dd.log
! bustap verify s_?.byu.gz >verdict 2>err || fail "verify does not report the damage"
! bustap recover s_2.byu.gz -o saved.byu.gz 2>err || fail "recover does not report the damage"
bustap verify s_1.byu.gz saved.byu.gz s_3.byu.gz >verdict
grep -q '^accounted for: 58[0-9]* records, 150 lost (disk 150)' verdict

# recover does not overwrite a file without --force
cp saved.byu.gz before
! bustap recover s_1.byu.gz -o saved.byu.gz 2>err || fail "an existing file is overwritten"
cmp saved.byu.gz before
bustap recover --force s_1.byu.gz -o saved.byu.gz 2>err
zcat saved.byu.gz | cmp - <(zcat s_1.byu.gz)

# concatenated files of two captures, damaged in the middle of any of them
for seed in $(seq 30 45); do
    rm -f ./*.byu.gz
    make_capture seed="$seed" files=3 file_records=1500 block_records=150 bus=$((seed % 3)) p
    make_capture seed=$((seed + 100)) file_records=1500 block_records=150 lost_at_end=$((seed % 2)) q
    cat p_1.byu.gz p_2.byu.gz q_1.byu.gz p_3.byu.gz >whole.byu.gz
    size=$(wc -c <whole.byu.gz)
    at=$((500 + (seed * 7919 + seed * seed * 104729) % (size - 500)))
    { head -c "$at" whole.byu.gz; printf '\252\125\252'; tail -c +$((at + 4)) whole.byu.gz; } \
        >damaged.byu.gz
    status=0
    bustap recover damaged.byu.gz -o saved.byu.gz 2>err || status=$?
    [ "$status" -eq 1 ] || fail "status $status: $(cat err)"
    bustap dump damaged.byu.gz >wanted 2>/dev/null || true
    bustap dump saved.byu.gz 2>err | cmp - wanted || fail "other records"
    bustap verify saved.byu.gz >verdict 2>err || true
    ! grep -q . err || fail "still damaged: $(cat err)"
    # at most one of the two captures is incomplete, unless a header is damaged: its records then
    # belong to no capture
    [ "$(grep -c '^complete\|^accounted for' verdict)" -eq 2 ] ||
        grep -q 'has no header\|end of the capture' verdict || fail "$(cat verdict)"
    grep -q '^complete\|^accounted for' verdict || fail "$(cat verdict)"
done
