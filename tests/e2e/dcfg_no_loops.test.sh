#!/bin/bash
# What is no loop of the program: captured parts that follow one another across a gap, and what signal handlers return to.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >parts.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
volatile long sum, alarms, waited;
static long target;
__attribute__((noinline)) void inner(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void fault(void) { __asm__ volatile("xor %%eax, %%eax\n movl $1, (%%rax)" ::: "rax", "memory"); }
static void on_alarm(int s) { alarms += s > 0; }
static void on_fault(int s, siginfo_t *i, void *c) { ((ucontext_t *)c)->uc_mcontext.gregs[REG_RAX] = (long)&target; }
int main(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, 0);
    action = (struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);
    for (int i = 0; i < 100; i++) inner(7);
    for (int i = 0; i < 4; i++) fault();
    struct itimerval timer = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &timer, 0);
    while (alarms < 10) waited++;
    return 0;
}
END
"${CC:-gcc}" -std=gnu11 -O1 -g -w -static -no-pie -o parts parts.c

# build NAME ARGUMENT...
build() {
    bustap exec -q --only-fetch -o "$1" --modules modules "${@:2}" -- ./parts
    bustap dcfg build --image "$(cat modules)" -o "$1.json" "$1"_*.byu.gz 2>/dev/null
    bustap dcfg check "$1.json" >/dev/null
    bustap dcfg loops --json "$1.json" >"$1.loops"
    bustap dcfg functions --json "$1.json" >"$1.functions"
}

# calls of a function: each is one, and none makes a loop of it
build calls --calls inner
[ "$(jq -c '[.loops[] | [.routine, .depth, .entries, .iterations]]' calls.loops)" = '[["inner",1,100,700]]' ] ||
    { cat calls.loops; exit 1; }
[ "$(jq -c '[.functions[] | [.symbol, .calls]]' calls.functions)" = '[["inner",100]]' ] || { cat calls.functions; exit 1; }
bustap dcfg annotate calls.json 2>/dev/null >text
[ "$(grep -c '; loop at depth' text)" = 1 ]
grep -q '; loop at depth 1: 100 entries, 700 iterations' text

# an instruction that is executed again after a fault is no loop; a loop that handlers interrupt is entered once
build whole
[ "$(jq '[.loops[] | select(.routine == "fault")] | length' whole.loops)" = 0 ] || { cat whole.loops; exit 1; }
[ "$(jq '[.loops[] | select(.routine == "main") | .entries] | max' whole.loops)" = 1 ] || { cat whole.loops; exit 1; }
