#!/bin/bash
# prctl's PR_SET_TSC: reading the time-stamp counter raises SIGSEGV until the program allows it again, in code that has
# run before and in new code, and in its children.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >clock.c <<'END'
#define _GNU_SOURCE /* REG_ERR */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static const char *place;

static void handle(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d, code %d, address %d, trap %lld, error %lld\n", number, info->si_code, info->si_addr != NULL,
        (long long)registers[REG_TRAPNO], (long long)registers[REG_ERR]);
    siglongjmp(back, 1);
}

/* A function each, so that the same code runs before and after. */
static __attribute__((noinline)) uint64_t stamp(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static __attribute__((noinline)) uint64_t stamp_processor(void)
{
    uint32_t low, high, processor;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    return (uint64_t)high << 32 | low;
}

static void read_each(const char *what)
{
    printf("%s: ", what);
    if (sigsetjmp(back, 1) == 0)
        puts(stamp() != 0 ? "read" : "0");
    printf("%s, with processor: ", what);
    if (sigsetjmp(back, 1) == 0)
        puts(stamp_processor() != 0 ? "read" : "0");
}

static void set(int how)
{
    int state = 0;
    errno = 0;
    int result = prctl(PR_SET_TSC, how, 0, 0, 0);
    int reason = errno;
    prctl(PR_GET_TSC, &state, 0, 0, 0);
    printf("set %d: %d, errno %d, state %d\n", how, result, reason, state);
}

int main(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = handle};
    sigaction(SIGSEGV, &action, NULL);
    set(PR_TSC_ENABLE);
    read_each("before");
    set(PR_TSC_SIGSEGV);
    read_each("forbidden");
    set(PR_TSC_SIGSEGV);
    set(0);
    set(3);
    fflush(stdout);
    if (fork() == 0) {
        read_each("in a child");
        set(PR_TSC_ENABLE);
        read_each("in a child, allowed");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    read_each("still forbidden");
    set(PR_TSC_ENABLE);
    read_each("allowed again");
    errno = 0;
    printf("%d", prctl(PR_GET_TSC, (void *)8, 0, 0, 0));
    printf(" errno %d\n", errno);
    return 0;
}
END
gcc -O1 -w -o clock clock.c
./clock >wanted
[ "$(grep -c 'signal 11' wanted)" = 6 ] || { cat wanted; exit 1; }
for way in 'exec -q --append -o out' 'exec -q --append -o out --follow' 'exec -q --append -o out --quantum 1' 'profile -o report' \
    'rondo -p bimodal -d 0 -o report' 'depend -o report' 'wet -o out.wet'; do
    for time in first second; do # the second one finds translations on disk
        # shellcheck disable=SC2086 # split into words
        timeout 120 bustap $way -- ./clock >got 2>messages || { echo "bustap $way, $time: status $?"; cat messages; exit 1; }
        diff wanted got || { echo "bustap $way, $time"; exit 1; }
    done
done
