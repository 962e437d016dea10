#define _GNU_SOURCE /* registers in ucontext_t */
/* A program that sets the trap flag for itself: a signal after each instruction, until the flag is
 * cleared. Prints a line for each: address and flags. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STEPS_MAX 400
#define TRAP      0x100u
/* TF, DF and NT, not RF: only Intel's processors set it between the iterations of rep. */
#define FLAGS 0x4500u

extern const uint8_t code_begin[], code_end[];

struct step {
    long place; /* offset in the code; or -1: elsewhere */
    int number, code;
    unsigned flags, trap, error;
    int same; /* si_addr and rip */
    unsigned long rax;
};

static struct step steps[STEPS_MAX];
static volatile unsigned count, ends_at;
static volatile uint64_t seen;

static void handle(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *rip = (const uint8_t *)(uintptr_t)registers[REG_RIP];
    if (count < STEPS_MAX)
        steps[count] = (struct step){
            .place = rip >= code_begin && rip < code_end ? rip - code_begin : -1,
            .number = number,
            .code = info->si_code,
            .flags = (unsigned)registers[REG_EFL] & FLAGS,
            .trap = (unsigned)registers[REG_TRAPNO],
            .error = (unsigned)registers[REG_ERR],
            .same = info->si_addr == (void *)rip,
            .rax = (unsigned long)registers[REG_RAX],
        };
    if (++count >= STEPS_MAX || count == ends_at)
        registers[REG_EFL] &= ~(greg_t)TRAP;
}

/* The handler runs without the flag. */
static void look(int number)
{
    uint64_t flags;
    (void)number;
    __asm__ volatile("pushfq\n pop %0" : "=r"(flags));
    seen = flags & TRAP;
}

static void show(const char *what)
{
    printf("%s: %u\n", what, count);
    for (unsigned i = 0; i < count && i < STEPS_MAX; i++)
        if (steps[i].place >= 0 || i == 0)
            printf("%ld: %d %d, %x, %u %u, %d, %lx\n", steps[i].place, steps[i].number,
                   steps[i].code, steps[i].flags, steps[i].trap, steps[i].error, steps[i].same,
                   steps[i].rax);
    count = 0;
    fflush(stdout);
}

#define SET   "pushfq\n orl $0x100, (%%rsp)\n popfq\n"
#define CLEAR "pushfq\n andl $~0x100, (%%rsp)\n popfq\n"

/* Instructions of all kinds; addresses of traps are printed relative to code_begin. */
static uint64_t run(void)
{
    uint64_t flags = 0, result = 0, stack = 0;
    static char text[8];
    __asm__ volatile(".globl code_begin\n code_begin:\n" SET "nop\n"
                     "mov $1, %%eax\n"
                     "add $2, %%eax\n"
                     "pushfq\n pop %0\n"
                     "mov $3, %%ecx\n"
                     "1: dec %%ecx\n jnz 1b\n"
                     "call 2f\n"
                     "jmp 3f\n"
                     "2: lea 4f(%%rip), %%rdx\n ret\n"
                     "3: jmp *%%rdx\n"
                     "nop\n"
                     "4: mov $107, %%eax\n" /* geteuid */
                     "syscall\n"
                     "mov %%r11, %1\n"
                     "xor %%eax, %%eax\n"
                     "lea %3, %%rdi\n"
                     "mov $3, %%ecx\n"
                     "rep stosb\n"
                     "rep stosb\n" /* 0 times */
                     "stosb\n"
                     "sub $4, %%rdi\n mov $5, %%ecx\n"
                     "movb $1, 2(%%rdi)\n"
                     "repe scasb\n"
                     "mov %%ecx, %%eax\n"
                     "sub $3, %%rdi\n mov $5, %%ecx\n"
                     "mov $1, %%eax\n"
                     "repne scasb\n"
                     "mov %%rdi, %%rsi\n sub $3, %%rsi\n lea 1(%%rsi), %%rdi\n"
                     "mov $2, %%ecx\n rep movsb\n"
                     "xor %%eax, %%eax\n"
                     "pushfq\n popfq\n" /* still set */
                     "std\n cld\n"
                     "movq %%rax, %%xmm0\n"
                     "pxor %%xmm0, %%xmm0\n" CLEAR "nop\n"
                     "nop\n"
                     "pushfq\n pop %2\n"
                     ".globl code_end\n code_end:\n"
                     : "=&r"(flags), "=&r"(result), "=&r"(stack), "=m"(text)
                     :
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r11", "xmm0", "memory", "cc");
    printf("flags: %lx, after a system call: %lx, at the end: %lx\n", (unsigned long)flags & TRAP,
           (unsigned long)result & TRAP, (unsigned long)stack & TRAP);
    return flags;
}

static void set(void)
{
    __asm__ volatile(SET "nop" ::: "memory", "cc");
}

static void clear(void)
{
    __asm__ volatile(CLEAR "nop" ::: "memory", "cc");
}

/* The handler of another signal sets it in the frame that it returns to. */
static void begin(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    printf("flags: %d\n", (int)(run() & 1)); /* warms up */
    show("traps");
    run();
    show("once more");
    ends_at = 3;
    run();
    show("three");
    ends_at = 0;
    action.sa_sigaction = begin;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    clear();
    printf("from a handler: %d\n", count > 2);
    count = 0;
    signal(SIGUSR2, look);
    set();
    raise(SIGUSR2);
    clear();
    printf("in a handler: %lx, %d\n", (unsigned long)seen, count > 20);
    count = 0;
    fflush(stdout);
    set();
    pid_t child = fork();
    clear();
    if (child > 0)
        waitpid(child, NULL, 0);
    printf("%s: %d\n", child ? "parent" : "child", count > 4);
    fflush(stdout);
    if (child == 0)
        _exit(0);
    signal(SIGTRAP, SIG_IGN); /* impossible */
    set();
    return 0;
}
