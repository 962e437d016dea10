/* For tests that run a loaded program in place: a layout, and the jump. */
#ifndef TESTS_E2E_EXEC_GO_H
#define TESTS_E2E_EXEC_GO_H

#include "capture/exec/memory/space.h"

#include <signal.h>

/* A layout without the address sanitizer's shadow, which begins at 2 GiB. */
#if defined(__SANITIZE_ADDRESS__)
#define SMALL 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMALL 1
#endif
#endif

#ifdef SMALL
static const struct space_layout layout = {.lowest = 0x10000,
                                           .image = 0x10000000,
                                           .break_end = 0x40000000,
                                           .map_end = 0x70000000,
                                           .stack_end = 0x7f000000};
#else
#define layout space_layout_default
#endif

/* Restores default handlers for a program: the address sanitizer has installed some. */
static inline void forget_handlers(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
}

/* Jumps with all registers but these two at 0; does not return. */
__attribute__((noreturn)) static inline void go(uint64_t rip, uint64_t rsp)
{
    __asm__ volatile("mov %1, %%rsp\n\t"
                     "push $0x202\n\t"
                     "popf\n\t"
                     "push %0\n\t"
                     "xor %%eax, %%eax\n\t"
                     "xor %%ebx, %%ebx\n\t"
                     "xor %%ecx, %%ecx\n\t"
                     "xor %%edx, %%edx\n\t"
                     "xor %%esi, %%esi\n\t"
                     "xor %%edi, %%edi\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "xor %%r8d, %%r8d\n\t"
                     "xor %%r9d, %%r9d\n\t"
                     "xor %%r10d, %%r10d\n\t"
                     "xor %%r11d, %%r11d\n\t"
                     "xor %%r12d, %%r12d\n\t"
                     "xor %%r13d, %%r13d\n\t"
                     "xor %%r14d, %%r14d\n\t"
                     "xor %%r15d, %%r15d\n\t"
                     "ret"
                     :
                     : "r"(rip), "r"(rsp)
                     : "memory");
    __builtin_unreachable();
}

#endif
