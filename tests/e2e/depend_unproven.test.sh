#!/bin/bash
# Loops of which something is not known are serial, and the report says why: ways out by cold code, longjmp and exceptions,
# system calls, processor modes, memory at two addresses, code that changes, one iteration only.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >unproven.c <<'E2'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xmmintrin.h>
#define N 3000
#define APART __attribute__((noipa, noinline))
static int a[N], b[N], found;
static float x[N], y[N];
static jmp_buf away;
register long kept __asm__("r15");
APART __attribute__((cold)) static int rare(int v) { return v / 3; }
APART static void cold_exit(int n)
{
    for (int i = 0; i < n; i++) {
        b[i] = a[i] * 3;
        if (a[i] == 1000) { found += rare(i); break; }
    }
}
APART static void leave_at(int v) { if (v == 1000) longjmp(away, 1); }
APART static void jumps(int n)
{
    for (int i = 0; i < n; i++) { b[i] = a[i] * 3; leave_at(a[i]); }
}
APART static int writes(int n, int file)
{
    int sum = 0;
    for (int i = 0; i < n; i++) { sum += a[i]; if (write(file, &sum, sizeof sum) < 0) sum++; }
    return sum;
}
APART static void rounds(int n)
{
    for (int i = 0; i < n; i++) {
        y[i] = x[i] / 3;
        _mm_setcsr((_mm_getcsr() & ~0x6000u) | (a[i] & 1 ? 0x2000u : 0x4000u));
    }
}
APART static void twice(int n, int *p, const int *q)
{
    for (int i = 0; i < n; i++) p[i + 1] = q[i] + a[i];
}
APART static void rewritten(int n, unsigned char *code)
{
    for (int i = 0; i < n; i++) { b[i] = ((int (*)(void))code)(); memcpy(code + 1, &a[i], 4); }
}
APART static void keep(long v) { kept = v; }
APART static void global_register(int n)
{
    for (int i = 0; i < n; i++) { b[i] = (int)(a[i] - kept); keep(a[i]); }
}
APART static void error_number(int n)
{
    for (int i = 0; i < n; i++) { b[i] = errno; errno = a[i]; }
}
APART static void one_body(const int *from, int *to, int n)
{
    for (int i = 0; i < n; i++) to[i + 1] = to[i] * 3 + from[i];
}
APART static int where(int n)
{
    int most = -1, at = 0;
    for (int i = 0; i < n; i++) if (a[i] > most) { most = a[i]; at = i; }
    return at;
}
APART static int last_odd(int n)
{
    int at = -1;
    for (int i = 0; i < n; i++) if (a[i] & 1) at = i;
    return at;
}
APART static void plain(int n)
{
    for (int i = 0; i < n; i++) b[i] = a[i] * 3;
}
int main(void)
{
    for (int i = 0; i < N; i++) { a[i] = i * 7 % 990; x[i] = (float)i; }
    a[N - 20] = 1000;
    const int file = open("/dev/null", O_WRONLY), memory = memfd_create("two", 0);
    if (file < 0 || memory < 0 || ftruncate(memory, 4 * N + 4096) != 0) return 1;
    int *p = mmap(NULL, 4 * N + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    int *q = mmap(NULL, 4 * N + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || q == MAP_FAILED || code == MAP_FAILED) return 1;
    memcpy(code, "\xb8\0\0\0\0\xc3", 6);
    const long saved = kept;
    cold_exit(N);
    if (!setjmp(away)) jumps(N);
    printf("%d ", writes(N, file));
    rounds(N);
    twice(N, p, q);
    rewritten(N, code);
    global_register(N);
    kept = saved;
    error_number(N);
    for (int i = 0; i < N - 1; i++) one_body(a + i, b + i, 1);
    printf("%d %d\n", where(N), last_odd(N));
    plain(N);
    return 0;
}
E2
cat >thrown.cc <<'E2'
static int a[3000], b[3000];
__attribute__((noipa, noinline)) static void check(const int *v) { if (*v == 97) throw 5; }
__attribute__((noipa, noinline)) static int throws(int n)
{
    try {
        for (int i = 0; i < n; i++) { b[i] = a[i] * 3; check(a + i); }
    } catch (int e) { return e; }
    return 0;
}
int main()
{
    for (int i = 0; i < 3000; i++) a[i] = i * 7 % 90;
    a[2900] = 97;
    return throws(3000) != 5;
}
E2
cat >check.py <<'PY'
import json, sys
expected = {"cold_exit": ("serial", "whether the loop"), "jumps": ("serial", "calls code"),
            "writes": ("serial", "system calls: order and data in the kernel are not seen"), "rounds": ("serial", "rounding"),
            "twice": ("serial", "1 iteration before"), "rewritten": ("serial", "calls code"),
            "global_register": ("serial", "r15"), "error_number": ("serial", "1 iteration before"),
            "one_body": ("serial", "no entry had a second iteration"), "where": ("serial", "on to the next iteration"),
            "last_odd": ("privatizable", "last value used"), "plain": ("independent", "at least 3000 iterations were seen"),
            "throws": ("serial", "calls code")}
options, names, loops = sys.argv[2], sys.argv[3:], {}
report = json.load(open(sys.argv[1]))
for loop in report["loops"]:
    name = (report["places"][loop["place"]].get("function") or "").split("(")[0]
    if name not in loops or loop["instructions"] > loops[name]["instructions"]:
        loops[name] = loop
for name in names:
    verdict, reason = expected[name]
    # optimized code keeps an element that it has just written in a register
    assert loops[name]["verdict"] == verdict, (options, name, loops[name])
    assert any(reason in said for said in loops[name]["reasons"]) or \
        (reason == "1 iteration before" and any("register" in said for said in loops[name]["reasons"])), (options, name, loops[name])
    assert loops[name]["reasons"][-1].startswith("at least "), (options, name, loops[name])
assert "one_body" not in names or loops["one_body"]["iterations"] == loops["one_body"]["entries"] == 2999, loops["one_body"]
PY
for options in -O0 "-O2 -fno-tree-vectorize"; do
    # shellcheck disable=SC2086 # a list
    gcc -g $options -ffixed-r15 -w -o unproven unproven.c
    bustap depend --json -o report.json ./unproven >out
    bustap depend check report.json >/dev/null
    python3 check.py report.json "$options" cold_exit jumps writes rounds twice rewritten global_register error_number \
        one_body where last_odd plain
    ! command -v g++ >/dev/null || {
        # shellcheck disable=SC2086 # a list
        g++ -g $options -w -o thrown thrown.cc
        bustap depend --json -o report.json ./thrown >out
        python3 check.py report.json "$options" throws
    }
done
