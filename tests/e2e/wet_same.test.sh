#!/bin/bash
# Two recordings of a program with the same input are equal, byte by byte: files with and without values, and the
# history.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
# shellcheck source=tests/e2e/wet_programs/compile.sh
. "$TOP/tests/e2e/wet_programs/compile.sh"

# start_options.random is what getentropy gives
cat >fixed.c <<'C'
#include <stddef.h>
#include <string.h>
int getentropy(void *buffer, size_t size)
{
    memset(buffer, 0x5a, size);
    return 0;
}
C
gcc -shared -fPIC -o fixed.so fixed.c
fixed=(env -i "PATH=$PATH" "LD_PRELOAD=$PWD/fixed.so")

# The C library asks for the number of its process: the same one in a new name space.
own_numbers=()
if unshare -rpf true 2>/dev/null; then
    own_numbers=(unshare -rpf)
else
    echo "no name spaces for processes: programs with the C library are not compared"
fi

# twice OPTION...: ./program
twice() {
    local i
    for i in 1 2; do
        # a shell is the first process of the name space: it ignores signals
        printf hello | "${numbers[@]}" "${fixed[@]}" sh -c '"$@"; exit 0' sh \
            bustap wet "$@" -o $i -- ./program >out$i 2>messages || true
        [ -s $i ] || { cat messages; exit 1; }
    done
    cmp out1 out2
    cmp 1 2 || { echo "$program $*"; exit 1; }
    rm 1 2
}

all_ways() {
    twice --chunk 700
    twice --chunk 700 --no-values
    twice --history 3000
}

numbers=()
for name in conditions endless sorting strings system_calls tables turns; do
    program=$name
    link_wet "$(echo "$wet_programs/$name".[cs])"
    all_ways
done

# what AT_RANDOM points to is part of the trace
program=random
cat >random.s <<'ASSEMBLER'
    .text
    .globl _start
_start:
    mov (%rsp), %rcx
    lea 16(%rsp,%rcx,8), %rsi
1:  lodsq
    test %rax, %rax
    jnz 1b
2:  lodsq
    mov %rax, %rbx
    lodsq
    cmp $25, %rbx
    jne 2b
    mov (%rax), %rdi
    and $31, %edi
3:  dec %edi
    jns 3b
    mov $60, %eax
    xor %edi, %edi
    syscall
ASSEMBLER
link_wet random.s
all_ways

[ ${#own_numbers[@]} -gt 0 ] || exit 0
# cpuid, which the C library uses, tells the processor's number
processor=$(sed -n 's/^Cpus_allowed_list:\t*\([0-9]*\).*/\1/p' /proc/self/status)
numbers=("${own_numbers[@]}" taskset -c "$processor")
cat >threads.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile int caught;
static void handle(int number) { caught += number; }
static void *work(void *at)
{
    for (volatile int i = 0; i < 3000; i++)
        *(volatile int *)at += i;
    return 0;
}
int main(void)
{
    static int cells[3];
    pthread_t threads[3];
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, &cells[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return (int)write(1, "done\n", 5) != 5;
}
C
program=threads
gcc -g -O1 -pthread -static -o program threads.c
all_ways
gcc -g -O1 -pthread -o program threads.c
twice --chunk 700 --no-values # the dynamic linker reads the time stamp counter
twice --history 3000
