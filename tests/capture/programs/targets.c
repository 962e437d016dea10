/* Indirect branches to targets whose lowest 16 bits are the same, interrupted by a timer. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

#define CALLS 300000u
#define APART __attribute__((noinline, aligned(65536)))

static void tick(int number)
{
    (void)number;
}

/* The registers that translated code likes to spill are in use in some of them. */
APART static uint64_t plain(uint64_t value)
{
    return value * 3 + 1;
}

APART static uint64_t uses_last(uint64_t value)
{
    uint64_t result;
    __asm__("mov %1, %%r15\n\tlea 5(%%r15, %%r15, 4), %%r14\n\tmov %%r14, %0"
            : "=r"(result)
            : "r"(value)
            : "r14", "r15");
    return result;
}

APART static uint64_t uses_rcx(uint64_t value)
{
    uint64_t result;
    __asm__("mov $7, %%ecx\n1:\tadd %%rcx, %1\n\tloop 1b\n\tmov %1, %0"
            : "=r"(result), "+r"(value)
            :
            : "rcx");
    return result;
}

APART static uint64_t uses_many(uint64_t value)
{
    __asm__("mov %0, %%r8\n\tmov %%r8, %%r9\n\tmov %%r9, %%r10\n\tmov %%r10, %%r11\n\t"
            "mov %%r11, %%r12\n\tmov %%r12, %%r13\n\txor %%r13, %%r15\n\txor %%r15, %%r15\n\t"
            "lea 9(%%r13), %0"
            : "+r"(value)
            :
            : "r8", "r9", "r10", "r11", "r12", "r13", "r15", "cc");
    return value;
}

APART static uint64_t carries(uint64_t value)
{
    unsigned char carry;
    uint64_t sum = value + 0x8000000000000000u;
    __asm__("add %1, %1\n\tsetc %0" : "=q"(carry), "+r"(value) : : "cc");
    return sum ^ carry;
}

int main(void)
{
    static uint64_t (*const volatile targets[])(uint64_t) = {plain, uses_last, uses_rcx, uses_many,
                                                             carries};
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    uint64_t value = 1, random = 1;
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < CALLS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        value = targets[(random >> 33) % 5](value);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%llx\n", (unsigned long long)value);
    return 0;
}
