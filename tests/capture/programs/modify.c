#define _GNU_SOURCE /* MAP_ANONYMOUS */
/* Code that is generated, modified, and modifies itself while it runs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int function(void);

static const uint8_t returns[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov eax, 0; ret */

static void put_number(uint8_t *code, int number)
{
    memcpy(code, returns, sizeof returns);
    memcpy(code + 1, &number, sizeof number);
}

/* Memory that stays writable. */
static void rewritten(uint8_t *code)
{
    long sum = 0;
    for (int i = 0; i < 300; i++) {
        put_number(code, i * 7);
        sum += ((function *)(uintptr_t)code)();
        if (i % 3 == 0)
            code[1]++;
        sum += 1000 * ((function *)(uintptr_t)code)();
    }
    printf("rewritten: %ld\n", sum);
}

/* An instruction that changes a later one in the same block: the new one is executed. */
static void itself(uint8_t *code)
{
    /* mov byte [rip + 1], 42; mov al, 1; mov byte [rip - 8], 1 (restores it); ret */
    static const uint8_t bytes[] = {0xc6, 0x05, 1,    0,    0,    0,    42,   0xb0, 1, 0x0f,
                                    0xb6, 0xc0, 0xc6, 0x05, 0xf5, 0xff, 0xff, 0xff, 1, 0xc3};
    int sum = 0;
    memcpy(code, bytes, sizeof bytes);
    for (int i = 0; i < 100; i++)
        sum += ((function *)(uintptr_t)code)();
    printf("itself: %d\n", sum);
}

/* A loop that counts down the constant it adds. */
static void loop(uint8_t *code)
{
    /* xor eax, eax; mov ecx, 20; 1: add eax, 100; dec byte [rip - 9] (the 100); dec ecx; jne 1b;
     * ret */
    static const uint8_t bytes[] = {0x31, 0xc0, 0xb9, 20,   0,    0,    0,    0x83, 0xc0, 100, 0xfe,
                                    0x0d, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x75, 0xf3, 0xc3};
    memcpy(code, bytes, sizeof bytes);
    printf("loop: %d\n", ((function *)(uintptr_t)code)());
}

/* Written, then made executable and not writable, as is common; and by the kernel. */
static void alternating(uint8_t *code)
{
    int sum = 0, ends[2];
    uint8_t made[sizeof returns];
    for (int i = 0; i < 50; i++) {
        mprotect(code, 4096, PROT_READ | PROT_WRITE);
        put_number(code, i);
        mprotect(code, 4096, PROT_READ | PROT_EXEC);
        sum += ((function *)(uintptr_t)code)();
    }
    printf("alternating: %d\n", sum);
    mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    (void)!pipe(ends);
    for (int i = 0; i < 50; i++) {
        put_number(made, 1000 + i);
        (void)!write(ends[1], made, sizeof made);
        (void)!read(ends[0], code, sizeof made);
        sum += ((function *)(uintptr_t)code)();
    }
    printf("read: %d\n", sum);
    for (int i = 0; i < 20; i++) {
        munmap(code, 4096);
        code = mmap(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        put_number(code, i);
        sum += ((function *)(uintptr_t)code)();
    }
    printf("mapped anew: %d\n", sum);
}

int main(void)
{
    uint8_t *code = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rewritten(code);
    rewritten(code + 4096 - 3);
    itself(code + 64);
    loop(code + 128);
    alternating(code);
    return 0;
}
