#!/bin/bash
# A signal's frame has its native size and place. An alternate stack of AT_MINSIGSTKSZ bytes is therefore enough, and a
# stack that is too small natively is too small, in each command that executes programs.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >frame.c <<'END'
/* Handles a signal on alternate stacks: from AT_MINSIGSTKSZ bytes upwards, or of the size in the argument. Prints, for
 * each, where the frame's parts are, counted from the bottom of the stack, and the size of the vector registers. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, ucontext_t's members */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ROOM ((size_t)128 << 10)
#define PAGE ((size_t)4096)

static uint8_t *bottom;
static volatile long information, registers, vector, size_of_vector;

static void handle(int number, siginfo_t *info, void *context)
{
    const ucontext_t *frame = context;
    const uint8_t *area = (const uint8_t *)frame->uc_mcontext.fpregs;
    uint32_t size;
    memcpy(&size, area + 464 + 16, sizeof size); /* xstate_size of struct _fpx_sw_bytes */
    information = (uint8_t *)info - bottom;
    registers = (uint8_t *)context - bottom;
    vector = area - bottom;
    size_of_vector = size;
    (void)number;
}

static void try(size_t size)
{
    const stack_t stack = {.ss_sp = bottom, .ss_size = size};
    if (sigaltstack(&stack, NULL) != 0) {
        printf("%zu: refused\n", size);
        return;
    }
    raise(SIGUSR1);
    printf("%zu: %ld %ld %ld, %ld\n", size, information, registers, vector, size_of_vector);
}

int main(int count, char **arguments)
{
    size_t least = getauxval(AT_MINSIGSTKSZ);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK, .sa_sigaction = handle};
    if (least == 0) /* a kernel before Linux 5.14 */
        least = MINSIGSTKSZ;
    sigaction(SIGUSR1, &action, NULL);
    bottom = (uint8_t *)mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + ROOM / 2;
    mprotect(bottom - PAGE, PAGE, PROT_NONE);
    if (count > 1)
        try((size_t)atol(arguments[1]));
    else
        for (size_t size = least; size < least + 256; size += 8)
            try(size);
    return 0;
}
END
gcc -O1 -w -o frame frame.c
# natively COMMAND...: the same output and status; an argument is the size of the stack
same() {
    local wanted=0 got=0
    ./frame ${size:+"$size"} >wanted 2>/dev/null || wanted=$?
    timeout 120 bustap "$@" ./frame ${size:+"$size"} >got 2>messages || got=$?
    [ "$wanted" = "$got" ] || { echo "bustap $* ./frame $size: status $got, wanted $wanted"; cat messages; exit 1; }
    diff wanted got || { echo "bustap $* ./frame $size"; exit 1; }
}
size=
for way in 'exec --append -o out' 'profile -o report' 'rondo -p bimodal -d 0 -o report' 'depend -o report' 'wet -o out.wet'; do
    # shellcheck disable=SC2086 # split into words
    same $way --
    [ "$(wc -l <wanted)" = 32 ]
done
for size in 2047 2048 2560 3072 3584 4096 8192; do
    same exec --append -o out --
done
