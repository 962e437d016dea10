#!/bin/bash
# What whole programs cost under capture/exec, and under others that see every reference: processor time
# in times of what they take natively, the best of three (peers: of one). One that computes, gzip -9,
# sqlite3 with queries, and the C compiler itself; and how long two small ones take in all.
#
#   none      translated, nothing is traced
#   one       all references delivered to a consumer that reads every record
#   two       the same in two processes: the program, and the consumer, which also expands the records;
#             processor time of each
#   branch    a control program is called at every branch, with the trace
#   files     bustap exec, to compressed files: all its threads; on two processors it takes half of that
#             at best
set -eu
case $BUILD in *sanitize*) echo "not with sanitizers"; exit 0 ;; esac
TIMEFORMAT='%U %S'
# shellcheck source=tests/bench/traced_programs.sh
. "$TOP/tests/bench/traced_programs.sh"

# seconds COMMAND...: of processor time
seconds() {
    { time "$@" >output 2>messages </dev/null; } 2>&1 | awk '{ printf "%.3f", $1 + $2 }'
}

# best COMMAND...
best() {
    for _ in 1 2 3; do seconds "$@"; echo; done | sort -n | head -n 1
}

times() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%9.1f", a / b }'
}

# one_peer NATIVE COMMAND...: where it is installed
one_peer() {
    local native=$1
    shift
    if command -v "$1" >/dev/null; then
        times "$(seconds "$@")" "$native"
    else
        printf '%9s' -
    fi
}

program() {
    local name=$1 native producer consumer
    shift
    native=$(best "$@")
    printf '%-8s %6.3f' "$name" "$native"
    for way in none all; do
        times "$(best "$BUILD/tests/bench/exec" --way $way "$@")" "$native"
    done
    "$BUILD/tests/bench/exec" --way two "$@" >output 2>messages </dev/null 9>two
    read -r _ _ _ producer consumer <two
    times "$producer" "$native"
    times "$consumer" "$native"
    times "$(seconds "$BUILD/tests/bench/exec" --way branch "$@")" "$native"
    times "$(seconds bustap exec -q -o "files/$name" -- "$@")" "$native"
    rm -rf files
    one_peer "$native" valgrind --tool=cachegrind --cachegrind-out-file=out "$@"
    [ -n "${NO_LACKEY:-}" ] || one_peer "$native" valgrind --tool=lackey --trace-mem=yes --log-file=/dev/null "$@"
    one_peer "$native" qemu-x86_64 "$@"
    echo
}

make_programs
cat >>queries <<'END'
update t set c=c||'x' where a%3=0;
select max(length(c)) from t;
END

echo "processor time, times native (native: seconds)"
printf '%-8s %6s%9s%9s%9s%9s%9s%9s%9s' '' native none one two/prog two/read branch files cachegr
[ -n "${NO_LACKEY:-}" ] || printf '%9s' lackey
printf '%9s\n' qemu
program compute ./compute 3
program gzip "$(command -v gzip)" -9 -c text
program sqlite3 "$(command -v sqlite3)" :memory: '.read queries'
program cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 decode.i -o decode.s

export XDG_CACHE_HOME=$PWD/cache
echo
echo "in all, with every reference delivered, seconds:"
for small in /bin/true /bin/ls /usr/bin/python3; do
    [ -x "$small" ] || continue
    arguments=()
    [ "$small" != /usr/bin/python3 ] || arguments=(-c 'print(1)')
    echo "$small: natively $(best "$small" "${arguments[@]}"), translated $(best \
        "$BUILD/tests/bench/exec" --way none "$small" "${arguments[@]}"), with translations on disk $(best \
        "$BUILD/tests/bench/exec" --way kept-none "$small" "${arguments[@]}"), traced $(best \
        "$BUILD/tests/bench/exec" --way all "$small" "${arguments[@]}")"
done
