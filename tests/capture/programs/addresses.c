#define _GNU_SOURCE /* REG_RIP */
/* Instruction addresses that a program can read: from signals, their frames, and x87. */
#include <cpuid.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ROOM 65536

extern const char base[], end_of_divide[], end_of_illegal[], end_of_lacking[], end_of_tile[],
    end_of_load[], end_of_wait[], divide[], illegal[], lacking[], tile[], load[], wait_x87[];

static const char *const begins[] = {divide, illegal, lacking, tile, load, wait_x87};
static const char *const ends[] = {end_of_divide, end_of_illegal, end_of_lacking,
                                   end_of_tile,   end_of_load,    end_of_wait};
static int keeps_pointers;

__asm__(".globl base\n"
        "base: nop\n");

static void print_place(const char *name, uint64_t place)
{
    uint64_t offset = place - (uint64_t)(uintptr_t)base;
    if (offset < ROOM || -offset < ROOM)
        printf(", %s base%+d", name, (int)offset);
    else
        printf(", %s %llx", name, (unsigned long long)place);
}

static void tell(int number, siginfo_t *info, void *context)
{
    ucontext_t *state = context;
    greg_t *registers = state->uc_mcontext.gregs;
    printf("signal %d, code %d, trap %d, error %x", number, info->si_code,
           (int)registers[REG_TRAPNO], (unsigned)registers[REG_ERR]);
    print_place("at", number == SIGUSR1 ? 0 : (uint64_t)registers[REG_RIP]);
    print_place("address", info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0);
    print_place("cr2", (uint64_t)registers[REG_CR2]);
    if (keeps_pointers)
        print_place("x87", state->uc_mcontext.fpregs->rip);
    printf("\n");
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if ((uintptr_t)registers[REG_RIP] == (uintptr_t)begins[i])
            registers[REG_RIP] = (greg_t)(uintptr_t)ends[i];
    state->uc_mcontext.fpregs->cwd = 0x37f; /* all exceptions are masked again */
    state->uc_mcontext.fpregs->swd = 0;
}

/* AMD's processors may store x87's pointers only while an exception is pending. */
static int has_pointers(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return 0;
    /* "enti" of AuthenticAMD, or HygonGenuine */
    if (c != signature_AMD_ecx && c != 0x656e6975)
        return 1;
    return __get_cpuid(0x80000008, &a, &b, &c, &d) && (b & 4);
}

static void faults(void)
{
    __asm__ volatile("xor %%eax, %%eax; cltd; xor %%ecx, %%ecx\n"
                     "divide: div %%ecx\n"
                     "end_of_divide: nop\n"
                     "illegal: ud2\n"
                     "end_of_illegal: int3\n"
                     "nop\n"
                     "lacking: .byte 0x0f, 0x0e\n" /* femms, of 3DNow */
                     "end_of_lacking: nop\n"
                     "tile: .byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0\n" /* tilezero */
                     "end_of_tile: mov $0x1234567, %%ecx\n"
                     "load: mov (%%rcx), %%eax\n"
                     "end_of_load: nop\n"
                     :
                     :
                     : "rax", "rcx", "rdx", "cc");
}

static void *in_thread(void *context)
{
    raise(SIGUSR1);
    return context;
}

/* The failed instruction's address stays in later signal frames, also in threads and children. */
static void stays(void)
{
    pthread_t thread;
    raise(SIGUSR1);
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    fflush(stdout);
    if (fork() == 0)
        exit(raise(SIGUSR1));
    wait(NULL);
}

/* An unmasked exception is raised by the next instruction that checks. */
static void exceptions(void)
{
    uint16_t word = 0x37b;
    __asm__ volatile("fninit; fldcw %0; fld1; fldz\n"
                     "nop; fdivrp\n"
                     "nop\n"
                     "wait_x87: fwait\n"
                     "end_of_wait: fninit"
                     :
                     : "m"(word));
}

/* xsave64 writes all that the processor has: 11,008 bytes with the matrices of AMX. */
static uint8_t area[16384] __attribute__((aligned(64)));

static void print_saved(const char *name, unsigned offset, unsigned size)
{
    uint64_t place = 0;
    memcpy(&place, area + offset, size);
    if (size == 4 && place != 0)
        place |= (uint64_t)(uintptr_t)base >> 32 << 32;
    printf("%s", name);
    print_place("x87", place);
    printf("\n");
    memset(area, 0, sizeof area);
}

/* Executed repeatedly and reached by a branch, so that a block has several entries. */
#define SAVED(name, offset, size, instruction)                                                     \
    do {                                                                                           \
        __asm__ volatile("mov $5, %%ebx\n"                                                         \
                         "1: fninit; nop; fld1; nop; nop\n"                                        \
                         "jmp 2f\n"                                                                \
                         "nop\n"                                                                   \
                         "2: " instruction "\n"                                                    \
                         "dec %%ebx; jnz 1b\n"                                                     \
                         "fninit"                                                                  \
                         :                                                                         \
                         : "D"(area), "a"(-1), "d"(0)                                              \
                         : "rbx", "memory", "cc");                                                 \
        print_saved(name, offset, size);                                                           \
    } while (0)

static void saved(void)
{
    unsigned a, b, c, d;
    SAVED("fnstenv", 12, 4, "fnstenv (%%rdi)");
    SAVED("fnsave", 12, 4, "fnsave (%%rdi)");
    SAVED("fxsave64", 8, 8, "fxsave64 (%%rdi)");
    SAVED("fxsave", 8, 4, "fxsave (%%rdi)");
    SAVED("two", 512 + 12, 4, "fnstenv (%%rdi); fldenv (%%rdi); fnstenv 512(%%rdi)");
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return;
    SAVED("xsave64", 8, 8, "xsave64 (%%rdi)");
    __cpuid_count(13, 1, a, b, c, d);
    if (a & bit_XSAVEOPT)
        SAVED("xsaveopt64", 8, 8, "xsaveopt64 (%%rdi)");
    if (a & bit_XSAVEC)
        SAVED("xsavec64", 8, 8, "xsavec64 (%%rdi)");
}

static void loaded(void)
{
    __asm__ volatile("fninit; fld1; nop; fldz; fld1");
    raise(SIGUSR1);
    __asm__ volatile("fninit");
}

int main(void)
{
    static const int numbers[] = {SIGSEGV, SIGILL, SIGTRAP, SIGFPE, SIGBUS, SIGUSR1};
    struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    keeps_pointers = has_pointers();
    raise(SIGUSR1);
    for (int times = 0; times < 3; times++)
        faults();
    stays();
    if (!keeps_pointers)
        return 0;
    exceptions();
    for (int times = 0; times < 2; times++)
        saved();
    loaded();
    return 0;
}
