#!/bin/bash
# cut and merge with damaged and missing files, pipes, signals and full disks. Blocks that are not wanted are not read.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "$*"
    cat err 2>/dev/null || true
    exit 1
}

# refused STATUS WORDS COMMAND...
refused() {
    local wanted=$1 words=$2 status=0
    shift 2
    "$@" >out 2>err || status=$?
    [ $status -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
    grep -q "$words" err || fail "no message '$words': $*"
}

make_capture files=3 file_records=1000 block_records=100 bus=2 p
bustap dump --csv p_?.byu.gz 2>err >all.csv
rows() { sed -n "$(($1 + 2)),$(($1 + $2 + 1))p" all.csv; }

# damage in blocks before and after the part is not noticed, by index and by time; not even in a pipe
mkdir damaged
cp p_?.byu.gz damaged
for file in damaged/*; do # the records of the fourth and eighth data members
    python3 - "$file" <<'END'
import struct, sys
data, at = bytearray(open(sys.argv[1], "rb").read()), 0
for member in range(9):
    if member in (4, 8):
        data[at + 150] ^= 85
    at += struct.unpack_from("<I", data, at + 20)[0]
open(sys.argv[1], "wb").write(data)
END
done
! bustap verify damaged/* >out 2>&1 || fail "nothing is damaged"
tick=$(rows 2950 1 | cut -d, -f2)
for part in "--skip 0 -n 150" "--skip 2940 -n 50" "--time ${tick}ticks.." "--time ..2000ticks" "--skip 1950 -n 100"; do
    # shellcheck disable=SC2086
    bustap cut damaged/*.gz -o part.byu.gz --force $part -q 2>err || fail "damage is noticed: $part"
    # shellcheck disable=SC2086
    bustap cut p_?.byu.gz -o sound.byu.gz --force $part -q
    cmp part.byu.gz sound.byu.gz
done
cat damaged/p_1.byu.gz | bustap cut -o part.byu.gz --force --skip 950 -q 2>err || fail "damage is noticed in a pipe"
[ ! -s err ] || fail "damage is reported in a pipe"
bustap dump --csv part.byu.gz 2>err | tail -n +2 | cmp - <(rows 950 50)

# damage in the part: what is missing is counted as lost at its place
status=0
bustap cut damaged/*.gz -o part.byu.gz --force 2>err || status=$?
[ $status -eq 1 ] || fail "status $status of a part with damage"
bustap verify part.byu.gz >out || fail "the part is not accounted for: $(cat out)"
grep -q "disk $((3000 - $(zcat part.byu.gz | wc -c) / 12))" out || fail "other losses: $(cat out)"
status=0
bustap cut p_1.byu.gz p_3.byu.gz -o part.byu.gz --force 2>err || status=$?
[ $status -eq 1 ] || fail "status $status of a part without a file"
grep -q 'file 2 is missing' err || fail "no message on the missing file"
bustap verify part.byu.gz | grep -q '^accounted for: 2000 records, 1006 lost (bus 4, disk 1002)' ||
    fail "the missing file is not counted"

# pipes, and a reader that ends
bustap cut - -o - -q <p_1.byu.gz >piped.byu.gz
bustap cut p_1.byu.gz -o whole.byu.gz -q
cmp piped.byu.gz whole.byu.gz
status=0
bustap cut p_?.byu.gz -o - -q 2>err | head -c 10 >out || status=${PIPESTATUS[0]}
[ ! -s err ] || fail "a closed pipe is reported"
mkfifo fifo
cat p_2.byu.gz >fifo &
bustap merge p_1.byu.gz fifo -o part.byu.gz --force -q
bustap cut p_1.byu.gz p_2.byu.gz -o sound.byu.gz --force -q
zcat part.byu.gz | cmp - <(zcat sound.byu.gz)

# a copy that comes through a pipe holds the same records
cat p_2.byu.gz >fifo &
status=0
bustap merge p_2.byu.gz p_1.byu.gz fifo -o twice.byu.gz 2>err || status=$?
[ "$status" -eq 2 ] || fail "a copy through a pipe: status $status"
grep -q 'p_[12].byu.gz and fifo both hold record [0-9]* of one capture' err || fail "$(cat err)"
[ ! -e twice.byu.gz ] || fail 'a copy through a pipe is merged'

# a full disk, and a signal: no file is left, an existing one stays
refused 3 'No space left' sh -c 'bustap cut p_1.byu.gz -o - >/dev/full'
refused 3 'No space left' sh -c 'bustap merge p_1.byu.gz p_2.byu.gz -o - >/dev/full'
refused 3 'not a regular file' bustap cut p_1.byu.gz -o /dev/full --force
mkdir out.d
cp whole.byu.gz out.d/old
for command in cut 'merge p_1.byu.gz'; do
    for name in old new; do
        # shellcheck disable=SC2086
        bustap $command fifo -o out.d/$name --force 2>err &
        process=$!
        exec {pipe}>fifo
        cat p_2.byu.gz >&$pipe
        sleep 0.1 # enough to read that, usually
        kill -TERM $process
        wait $process 2>/dev/null || true
        exec {pipe}>&-
        [ "$(ls -A out.d | grep -v '^old\.part-1$\|^new\.part-1$')" = old ] || fail "left: $(ls -A out.d)"
        cmp out.d/old whole.byu.gz
    done
done

# traces of other programs, and raw ones
bustap convert p_1.byu.gz -o p.din --to din -q 2>err
bustap cut p.din --skip 10 -n 20 -o din.byu.gz -q
[ "$(zcat din.byu.gz | wc -c)" -eq 240 ] || fail "not 20 records of din"
zcat p_1.byu.gz >p.byu
bustap cut p.byu --skip 100 -n 200 -o raw.byu.gz -q
zcat raw.byu.gz | cmp - <(tail -c +1201 p.byu | head -c 2400)
bustap dump --csv p.byu >raw.csv
bustap dump --csv raw.byu.gz | tail -n +2 | cmp - <(sed -n '102,301p' raw.csv)
if [ -s "$SHARED/data/pentium2.byu" ]; then
    real=$SHARED/data/pentium2.byu
    bustap cut "$real" --skip 1000 -n 20000 -o real.byu.gz -q 2>err
    zcat real.byu.gz | cmp - <(tail -c +12001 "$real" | head -c 240000)
    bustap cut "$real" --time 100kticks..900kticks -f type=MEMWRITE -o real.byu.gz --force -q 2>err
    bustap dump --csv "$real" 2>err | awk -F, '$4 == "MEMWRITE" && $2 >= 100000 && $2 <= 900000' | cut -d, -f2-7 >wanted
    bustap dump --csv real.byu.gz | tail -n +2 | cut -d, -f2-7 | cmp - wanted
fi

# many inputs, against a sort: order of the files for equal ticks
for number in $(seq 10 40); do
    make_capture seed="$number" file_records=60 block_records=25 m$number
done
bustap merge m*_1.byu.gz -o many.byu.gz -q
for file in m*_1.byu.gz; do
    bustap dump --csv "$file" | tail -n +2
done | cut -d, -f2-7 | sort -t, -s -n -k1,1 >wanted
bustap dump --csv many.byu.gz | tail -n +2 | cut -d, -f2-7 | cmp - wanted
