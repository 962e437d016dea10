#!/bin/bash
# The graph of a program that was captured through a virtual board is the graph of its instructions, also of those that
# the bus transfers in two requests.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >program.c <<'C'
static volatile unsigned long sum;
unsigned words[8];
void _start(void)
{
    for (int i = 0; i < 50; i++) {
        __asm__ volatile("movabs $0x1122334455667788, %%rax\n"          /* 10 bytes */
                         "nop\n"
                         "movl $0x12345678, words+4(,%%rcx,4)\n"        /* 11 */
                         "movq $0x12345678, words(%%rcx)\n"             /* 11 or 12 */
                         "movq $-1, words\n"                            /* 11 or 12 */
                         "nopl 0x12345678(%%rax)\n"                     /* 7 */
                         "nopl 0x12345678(%%rax,%%rax)\n"               /* 8, and 1 byte */
                         "nop\n"
                         : : "c"(0) : "rax", "memory");
        sum += (unsigned long)i;
    }
    __asm__ volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
}
C
gcc -O1 -fno-stack-protector -nostdlib -static -no-pie -o program program.c
bustap exec -q -o direct -- ./program
bustap exec -q --virtual-board -o board -- ./program
bustap dcfg build --image program direct_* -o direct.json --trace direct.trace.json 2>/dev/null
bustap dcfg build --image program board_* -o board.json --trace board.trace.json 2>messages
grep 'no such' messages && exit 1
cmp direct.json board.json
cmp direct.trace.json board.trace.json
bustap dcfg check board.json --trace board.trace.json >/dev/null
# one block at an address
jq -e '[.PROCESSES[1][1].IMAGES[1:][][3].BASIC_BLOCKS[1:][][1]] | length == (unique | length)' board.json >/dev/null
