/* Loads that fault between instructions of SSE: the handler sees the registers, and they are the
 * same after it, the upper halves of ymm0 to ymm15 and the exceptions in MXCSR included. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define BYTES 4096u

static uint8_t *page;
static volatile unsigned faults, seen;

static void handle(int number, siginfo_t *information, void *context)
{
    const ucontext_t *user = context;
    (void)number;
    (void)information;
    for (unsigned i = 4; i < 16; i++)
        seen += user->uc_mcontext.fpregs->_xmm[i].element[0] == 0x01010101u * i;
    seen += user->uc_mcontext.fpregs->mxcsr >> 5 & 1; /* inexact */
    faults++;
    mprotect(page, BYTES, PROT_READ | PROT_WRITE);
}

/* Returns the sum of the bytes in the registers after the loads, and those of upper halves. */
static unsigned long load(uint8_t registers[16][32], int has_avx)
{
    static uint8_t after[16][32];
    unsigned long sum = 0;
    uint32_t usual = 0x1f80, status = 0;
    if (has_avx)
        __asm__ volatile(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
                         "vmovups 32 * \\n(%0), %%ymm\\n\n"
                         ".endr\n"
                         :
                         : "r"(registers)
                         : "memory");
    __asm__ volatile(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
                     "movups 32 * \\n(%0), %%xmm\\n\n"
                     ".endr\n"
                     "ldmxcsr %4\n"
                     "jmp 1f\n"
                     "1: mov $3, %%eax\n"
                     "cvtsi2sd %%eax, %%xmm2\n"
                     "mov $1, %%eax\n"
                     "cvtsi2sd %%eax, %%xmm3\n"
                     "divsd %%xmm2, %%xmm3\n"
                     "jmp 2f\n"
                     "2: paddb %%xmm5, %%xmm0\n"
                     "movaps (%2), %%xmm1\n" /* faults */
                     "paddb %%xmm0, %%xmm1\n"
                     "jmp 3f\n"
                     "3: .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
                     "movups %%xmm\\n, 32 * \\n(%1)\n"
                     ".endr\n"
                     "stmxcsr %3\n"
                     :
                     : "r"(registers), "r"(after), "r"(page), "m"(status), "m"(usual)
                     : "eax", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                       "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15");
    if (has_avx)
        __asm__ volatile(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
                         "vextractf128 $1, %%ymm\\n, 32 * \\n + 16(%0)\n"
                         ".endr\n"
                         "vzeroupper\n"
                         :
                         : "r"(after)
                         : "memory");
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 32; j++)
            sum = sum * 31 + after[i][j];
    return sum + (*(volatile uint32_t *)&status >> 5 & 1);
}

int main(void)
{
    static uint8_t registers[16][32];
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    const int has_avx = __builtin_cpu_supports("avx");
    page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    sigaction(SIGSEGV, &action, NULL);
    memset(page, 5, BYTES);
    for (unsigned i = 0; i < 16; i++)
        memset(registers[i], (int)i, sizeof registers[i]);
    for (unsigned i = 0; i < 20; i++) {
        mprotect(page, BYTES, PROT_NONE);
        printf("%lx\n", load(registers, has_avx));
    }
    printf("%u faults, %u registers\n", faults, seen);
    return 0;
}
