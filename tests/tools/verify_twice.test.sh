#!/bin/bash
# `bustap verify` and a second verifier, written from doc/capture-file.md alone, judge sound captures of every
# kind and mutants of them alike.
#
# By hand: MUTANTS=20000 SEED=1000 BUILD=build tests/run tools/verify_twice
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
mkdir sound

# sound NAME COMMAND...: a folder with the files that the command writes to the prefix ./p
sound() {
    mkdir "sound/$1"
    (cd "sound/$1" && shift && "$@") >log 2>&1 || [ "$?" -eq 1 ] || { cat log; exit 1; }
    ls "sound/$1"/*.by[ub]* >files || { cat log; exit 1; }
}

capture() {
    bustap capture --quiet -o p --block 40 --level 1 --engine zlib "$@"
}

# three captures to one prefix; the ring has removed files of the first two
appended() {
    for requests in 800 801 802; do
        capture --board virtual:smp=2,requests=$requests --rotate size=4K --keep 5 --append
        sleep 1
    done
}

cut_and_recovered() {
    make_capture files=3 file_records=90 block_records=30 bus=2 x
    head -c 1500 x_2.byu.gz >y.byu.gz
    bustap recover y.byu.gz -o p_2.byu.gz || [ "$?" -eq 1 ]
    mv x_1.byu.gz p_1.byu.gz
    mv x_3.byu.gz p_3.byu.gz
    bustap recover p_3.byu.gz -o z_3.byu.gz
    mv z_3.byu.gz p_3.byu.gz
    rm x_2.byu.gz y.byu.gz
}

damaged_and_recovered() {
    make_capture files=3 file_records=120 block_records=30 link=2 queue=3 x
    for number in 1 2 3; do
        { head -c 1200 x_$number.byu.gz; printf '\252\125'; tail -c +1203 x_$number.byu.gz; } >y.byu.gz
        bustap recover y.byu.gz -o p_$number.byu.gz || [ "$?" -eq 1 ]
    done
    rm x_* y.byu.gz
}

sound plain make_capture files=3 file_records=50 block_records=20 p
sound losses make_capture seed=2 files=3 file_records=50 block_records=20 bus=1 link=2 queue=3 disk=4 p
sound lost_at_end make_capture seed=3 files=2 file_records=30 block_records=30 lost_at_end=9 after_stop=4 \
    filtered=5 above_4gib=6 undecoded=7 p
sound gaps make_capture seed=4 files=2 file_records=30 block_records=10 gap_ms=500 link=3 p
sound chosen make_capture seed=8 files=2 file_records=30 block_records=10 gap_chosen=1 p
sound parts make_capture seed=9 files=2 file_records=30 block_records=10 gap_parts=2 p
sound events make_capture seed=10 files=2 file_records=30 block_records=10 events=5 gap_parts=2 p
sound coded make_capture seed=12 files=3 file_records=50 block_records=20 version=2 bus=1 link=2 p
sound columns bustap capture --quiet -o p --block 60 --engine columns --board virtual:smp=2,requests=300
sound versions sh -c 'make_capture seed=13 files=3 file_records=30 block_records=9 x &&
    make_capture seed=13 files=3 file_records=30 block_records=9 version=2 y &&
    mv y_1.byb p_1.byb && mv x_2.byu.gz p_2.byu.gz && cat y_3.byb >p_3.byb && rm x_* y_*'
sound ring make_capture seed=5 files=7 removed=4 keep=3 file_records=30 block_records=20 bus=3 p
sound empty make_capture seed=6 file_records=0 block_records=10 p
sound joined sh -c 'make_capture seed=7 files=3 file_records=20 block_records=9 x &&
    cat x_3.byu.gz x_1.byu.gz >p_1.byu.gz && mv x_2.byu.gz p_2.byu.gz && rm x_1.byu.gz x_3.byu.gz'
sound cut_and_recovered cut_and_recovered
sound damaged_and_recovered damaged_and_recovered
sound derived sh -c 'make_capture seed=11 files=2 file_records=40 block_records=15 bus=2 link=1 x &&
    bustap cut -o p_1.byu.gz --skip 20 x_?.byu.gz && bustap cut -o p_2.byu.gz --skip 70 x_?.byu.gz &&
    bustap cut -o p_3.byu.gz -n 50 -f type=read x_?.byu.gz && rm x_?.byu.gz'
sound captured capture --board virtual:smp=2,requests=200
sound rotated capture --board virtual:smp=2,requests=400 --rotate size=4K
sound kept capture --board virtual:smp=2,requests=800 --rotate size=4K --keep 3
sound appended appended
sound lossy capture --board virtual:smp=4,requests=30000,rate=50M,queue=4 --packing plain --rotate size=20K
sound filtered capture --board virtual:smp=2,requests=500 --filter type=FETCH
sound limited capture --board virtual:smp=2,requests=5000 --stop records=120
# AddressSanitizer's shadow occupies the program's addresses
[ -n "$NO_EXEC" ] || sound program sh -c 'bustap exec --count 100 -o p -- /bin/true && rm p.modules'

python3 "$TOP/tests/tools/verify_twice.py" sound "${MUTANTS:-600}" "${SEED:-1}"
