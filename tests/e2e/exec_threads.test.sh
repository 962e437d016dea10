#!/bin/bash
# Threads take turns of a number of instructions, which is the same in each run: under exec, profile and rondo.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
fail() {
    echo "$*"
    exit 1
}
for program in turns threads; do
    gcc -O1 -w -pthread -o $program "$TOP/tests/capture/programs/$program.c"
done

# captures PREFIX...: are the same records
captures() {
    cmp <(zcat "$1"[_-]*.byu.gz) <(zcat "$2"[_-]*.byu.gz) || fail "$3: differs between two runs"
}

# --- a turn has the full number of instructions while other threads are ready, and switches are counted ---
for quantum in 1 500 10000; do
    rounds=$((quantum < 500 ? 200 : quantum * 20))
    bustap exec -q --quantum $quantum --summary summary -o line$quantum ./turns a $rounds >/dev/null
    [ "$(jq .quantum summary)" = $quantum ] || fail "quantum: $(cat summary)"
    bustap dump --csv --filter 'type=FETCH' line${quantum}_*.byu.gz |
        awk -F, -v quantum=$quantum -v switches="$(jq .switches summary)" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            NR > 2 && $at["processor"] != last { runs++; whole += length_ == quantum; length_ = 0 }
            { last = $at["processor"]; length_++ }
            END { print runs, whole; exit !(runs == switches && whole > 120) }' >runs ||
        fail "quantum $quantum: $(cat runs) of $(jq .switches summary)"
done
# without --quantum it is 10,000, and the summary says so
bustap exec -o usual ./turns a 200000 2>messages >/dev/null
captures usual line10000 "the default"
grep -q '^bustap: [0-9]* switches of threads, which have 10000 instructions a turn$' messages || fail "$(cat messages)"
# four threads that write one line, which changes its writer with each turn
bustap dump --csv --filter 'type=MEMWRITE' line500_*.byu.gz |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
             $at["processor"] > 0 && $at["processor"] < 5 { writes++; moves += $at["processor"] != last; last = $at["processor"] }
             END { print writes, moves; exit !(writes >= 40000 && moves > writes / 400) }' >moves || fail "moves: $(cat moves)"

# --- runs are identical if threads wait only for each other ---
# twice NAME COMMAND...: the output is as natively, and both captures are the same
twice() {
    local name=$1 run
    shift
    for run in x y; do
        rm -f $run[_-]*
        bustap exec -q -o $run "${options[@]}" -- "$@" >got || fail "$name: $? $(cat got)"
        cmp wanted got || fail "$name"
    done
    captures x y "$name"
}
for part in b c d e; do
    ./turns $part 300 >wanted
    for quantum in 1 77 10000; do
        options=(--quantum $quantum)
        twice "turns $part by $quantum" ./turns $part 300
    done
done
options=(--split-threads --quantum 100)
./turns e 300 >wanted
twice "turns e, each thread" ./turns e 300
options=()
for part in a b c d h; do # mutexes, conditions, barriers, spinning, robust mutexes
    ./threads $part >wanted
    twice "threads $part" ./threads $part
done
# with an endless turn, a thread that waits in the kernel or for a mutex does not block the others
for part in a b d e; do
    ./turns $part 300 >wanted
    options=(--quantum 1000T)
    twice "turns $part by all" ./turns $part 300
done
bustap exec -q --quantum 1M -o long ./turns g | grep -q '^calls: 0$' || fail "a long system call ends the turn"
# external events: a clock, a signal that a timer sends, another process
options=()
./turns f >wanted
bustap exec -q -o outside ./turns f | cmp - wanted
bustap exec -q --quantum 100 -o outside2 ./threads g | cmp - <(./threads g)
bustap exec -q -o outside3 bash -c '(sleep 0.2; echo read) | cat' | grep -q '^read$'

# --- profile ---
for run in 1 2; do
    bustap profile --quantum 100 --split-threads --json -o profile$run ./turns d >/dev/null
done
cmp profile1 profile2
[ "$(jq -c '[.quantum, .switches > 100, .threads]' profile1)" = '[100,true,5]' ] || fail "profile: $(head -c 300 profile1)"

# --- rondo: as many instructions as exec captures, and the same each time; wrong paths, too ---
for part in a b c d; do
    ./threads $part >wanted
    for run in 1 2; do
        bustap rondo -p tage -p bimodal -d 16 --wrong-path wrong$run.byu.gz --json -o rondo$run ./threads $part >got
        cmp wanted got || fail "rondo: $part"
    done
    cmp rondo1 rondo2 || fail "rondo: $part differs"
    # a wrong path may use a random number, such as the stack guard, as an address
    cmp <(zcat wrong1.byu.gz | b2a | cut -f2-) <(zcat wrong2.byu.gz | b2a | cut -f2-) || fail "wrong paths: $part differ"
    rm -f wrong?.byu.gz fetches[_-]*
    bustap exec -q --only-fetch --summary summary -o fetches ./threads $part >got
    [ "$(jq -c '[.records, .switches]' summary)" = "$(jq -c '[.instructions, .switches]' rondo1)" ] ||
        fail "rondo: $part: $(head -c 200 rondo1); exec: $(cat summary)"
done
bustap rondo --quantum 50 -p taken -d 0 -o report ./turns a 100 >/dev/null
grep -q '^[0-9]* switches of threads, which have 50 instructions a turn$' report || fail "$(cat report)"
bustap rondo --skip 130000 --count 20000 -p taken -o report ./turns d | grep -q '^locks: 1$' # threads run freely before and after the region

# --- after the last region turns are as long as by default: short ones would only cost time ---
cat >owners.c <<'END'
#include <pthread.h>
#include <stdio.h>
static volatile long owner, changes;
static void *own(void *self)
{
    for (int i = 0; i < 100000; i++)
        if (owner != (long)self) {
            owner = (long)self;
            changes++;
        }
    return NULL;
}
int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, own, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", changes);
    return 0;
}
END
gcc -O1 -pthread -o owners owners.c
changes=$(bustap exec -q --quantum 20 --filter 'type=MEMWRITE and address=0' -o all ./owners 2>/dev/null) || true
[ "$changes" -gt 5000 ] || fail "in a region, $changes changes: this tests nothing"
changes=$(bustap exec -q --quantum 20 --count 1000 -o first ./owners)
[ "$changes" -lt 1000 ] || fail "after the last region turns are short: $changes changes"
