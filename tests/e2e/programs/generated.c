#define _GNU_SOURCE /* MAP_32BIT */
/* Loops around calls of code that the program writes itself, and a loop in that code, which calls
 * back. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef void function(void);
typedef void repeat(int times, function *called);

static const uint8_t code[] = {
    0x53,                   /* push %rbx */
    0x55,                   /* push %rbp */
    0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
    0x89, 0xfb,             /* mov %edi, %ebx */
    0x48, 0x89, 0xf5,       /* mov %rsi, %rbp */
    0xff, 0xd5,             /* call *%rbp */
    0xff, 0xcb,             /* dec %ebx */
    0x75, 0xfa,             /* jne to the call */
    0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
    0x5d,                   /* pop %rbp */
    0x5b,                   /* pop %rbx */
    0xc3,                   /* ret */
};

static volatile unsigned count;

__attribute__((noinline)) static void add(void)
{
    count += 1;
}

int main(void)
{
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (page == MAP_FAILED)
        return 9;
    memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        return 9;
    repeat *generated = (repeat *)(uintptr_t)page;
    for (volatile int i = 0; i < 30; i++)
        generated(1, add);
    for (volatile int i = 0; i < 20; i++)
        generated(3, add);
    printf("%u\n", count);
    return 5;
}
