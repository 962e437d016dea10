#!/bin/bash
# The captured instructions equal those that ptrace steps through.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
PATH="$BUILD/tests/e2e:$PATH"

# Without libraries, which depend on the processor, the clock and their addresses.
cat >program.c <<'C'
static long system_call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
static unsigned numbers[100];
static unsigned compare(unsigned a, unsigned b) { return a % 1000 < b % 1000; }
static unsigned (*volatile order)(unsigned, unsigned) = compare;
static unsigned depth(unsigned n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
void _start(void)
{
    unsigned seed = 1;
    char text[] = "00000000\n";
    for (int i = 0; i < 100; i++)
        numbers[i] = seed = seed * 1664525u + 1013904223u;
    for (int i = 1; i < 100; i++)
        for (int j = i; j > 0 && order(numbers[j], numbers[j - 1]); j--) {
            unsigned other = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = other;
        }
    seed = numbers[7] + depth(12);
    for (int i = 7; i >= 0; i--, seed >>= 4)
        text[i] = "0123456789abcdef"[seed & 15];
    system_call(1, 1, (long)text, 9);
    system_call(60, 3, 0, 0);
}
C
compiled=0
for options in "-O0" "-O2" "-O3 -mavx2"; do
    # shellcheck disable=SC2086
    gcc $options -fno-stack-protector -fno-builtin -nostdlib -static -no-pie -o program program.c 2>/dev/null || continue
    compiled=1
    case $options in *avx2) grep -q avx2 /proc/cpuinfo || continue ;; esac
    status=0
    single_step --output steps.byu.gz ./program >stepped 2>messages || status=$?
    [ "$status" != 124 ] || { echo "programs cannot be single-stepped here"; exit 77; }
    [ "$status" = 3 ] || { cat messages; exit 1; }
    status=0
    bustap exec --quiet -o exec --only-fetch -- ./program >executed || status=$?
    [ "$status" = 3 ]
    cmp stepped executed
    # address, type and size; time is counted otherwise
    for capture in steps.byu.gz exec_*.byu.gz; do
        zcat "$capture" | od -An -v -tx4 -w12 | awk '{ print $1, substr($2, 5) }' >"${capture%%[._]*}.text"
    done
    [ "$(wc -l <steps.text)" -gt 20000 ]
    cmp steps.text exec.text
    rm -f exec_* steps.*
done
[ $compiled = 1 ] || { echo "nothing can be linked without a library"; exit 77; }
