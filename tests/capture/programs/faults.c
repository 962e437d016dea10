#define _GNU_SOURCE /* REG_RIP */
/* Instructions that fault, and what their handlers receive; with an argument, an end by a signal.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static char alternate[65536];
static volatile uint8_t *page;
static volatile int times;

static int is_in(const void *memory, size_t size, const void *place)
{
    return (uintptr_t)place - (uintptr_t)memory < size;
}

/* Addresses of the faulting instruction, and of the continuation. */
extern const char divide_begin[], divide_end[], store_begin[], store_end[], illegal_begin[],
    illegal_end[], trap_begin[], privileged_begin[], privileged_end[];

static void skip(int number, siginfo_t *info, void *context)
{
    static const char *const begins[] = {divide_begin, store_begin, illegal_begin,
                                         privileged_begin};
    static const char *const ends[] = {divide_end, store_end, illegal_end, privileged_end};
    ucontext_t *state = context;
    greg_t *registers = state->uc_mcontext.gregs;
    const char *at = (const char *)(uintptr_t)registers[REG_RIP];
    int place = -1;
    for (int i = 0; i < 4; i++)
        if (at == begins[i])
            place = i;
    printf("signal %d, code %d, place %d, rax %llx, r15 %llx, trap %d, error %d", number,
           info->si_code, place, (unsigned long long)registers[REG_RAX],
           (unsigned long long)registers[REG_R15], (int)registers[REG_TRAPNO],
           (int)registers[REG_ERR]);
    if (number == SIGSEGV)
        printf(", address %llx", (unsigned long long)(uintptr_t)info->si_addr);
    printf("\n");
    if (place >= 0)
        registers[REG_RIP] = (greg_t)(uintptr_t)ends[place];
    registers[REG_RBX] = 4711;
}

static void open_page(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    times++;
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE);
}

static void jump(int number, siginfo_t *info, void *context)
{
    char here;
    (void)info;
    (void)context;
    siglongjmp(back, number + 100 * is_in(alternate, sizeof alternate, &here));
}

static void on(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(number, &action, NULL);
}

static void skipped(void)
{
    uint64_t rbx;
    on(SIGFPE, skip);
    on(SIGSEGV, skip);
    on(SIGILL, skip);
    on(SIGTRAP, skip);
    __asm__ volatile("mov $7, %%eax; xor %%edx, %%edx; xor %%ecx, %%ecx; mov $15, %%r15d\n"
                     "divide_begin: div %%ecx\n"
                     "divide_end: mov %%rbx, %0"
                     : "=r"(rbx)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r15", "cc");
    printf("rbx %d\n", (int)rbx);
    __asm__ volatile("mov $8, %%eax; mov $0x18, %%ecx; mov $16, %%r15d\n"
                     "store_begin: mov %%eax, (%%rcx)\n"
                     "store_end: mov %%rbx, %0"
                     : "=r"(rbx)
                     :
                     : "rax", "rbx", "rcx", "r15", "memory");
    __asm__ volatile("mov $9, %%eax; mov $17, %%r15d\n"
                     "illegal_begin: ud2\n"
                     "illegal_end: nop"
                     :
                     :
                     : "rax", "rbx", "r15");
    __asm__ volatile("mov $10, %%eax; mov $18, %%r15d\n"
                     "trap_begin: int3\n"
                     :
                     :
                     : "rax", "rbx", "r15");
    __asm__ volatile("mov $11, %%eax; mov $19, %%r15d\n"
                     "privileged_begin: hlt\n"
                     "privileged_end: nop"
                     :
                     :
                     : "rax", "rbx", "r15");
}

static int overflow(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void mended(void)
{
    on(SIGSEGV, open_page);
    page = mmap(NULL, 4 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4 * 4096; i++)
        page[i]++;
    printf("mended: %d times, %d\n", times, page[5000]);
    mprotect((void *)(uintptr_t)page, 4 * 4096, PROT_READ);
    memset((void *)(uintptr_t)page, 3, 4 * 4096);
    printf("mended: %d times, %d\n", times, page[9000]);
}

static void jumped(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
    on(SIGSEGV, jump);
    on(SIGBUS, jump);
    int number = sigsetjmp(back, 1);
    if (number == 0)
        overflow(0);
    printf("overflow: %d\n", number);
    number = sigsetjmp(back, 1);
    if (number == 0)
        ((void (*)(void))(uintptr_t)0x1234)();
    printf("call of address 0: %d\n", number);
    number = sigsetjmp(back, 1);
    if (number == 0)
        ((void (*)(void))(uintptr_t)page)();
    printf("call of data: %d\n", number);
    FILE *file = tmpfile();
    const char *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    number = sigsetjmp(back, 1);
    if (number == 0)
        printf("%d\n", mapped[100]);
    printf("after the file's end: %d\n", number);
}

/* Sets the alignment check flag, by which some programs detect the processor's type. */
static void aligned(void)
{
    uint64_t sum, values[4] = {1, 2, 3, 4};
    __asm__ volatile("pushfq; orq $0x40000, (%%rsp); popfq\n"
                     "xor %%eax, %%eax; mov $1000, %%edx\n"
                     "1: mov %%edx, %%ecx; and $3, %%ecx; jz 2f\n"
                     "add (%%rsi,%%rcx,8), %%rax\n"
                     "2: lea 3f(%%rip), %%rdi; jmp *%%rdi\n"
                     "3: dec %%edx; jnz 1b\n"
                     "pushfq; andq $~0x40000, (%%rsp); popfq"
                     : "=&a"(sum)
                     : "S"(values)
                     : "rcx", "rdx", "rdi", "cc", "memory");
    printf("aligned: %d\n", (int)sum);
}

int main(int count, char **arguments)
{
    if (count > 1) {
        printf("ends\n");
        fflush(stdout);
        switch (atoi(arguments[1])) {
        case SIGSEGV:
            *(volatile int *)(uintptr_t)0x10 = 1;
            break;
        case SIGFPE:
            printf("%d\n", 5 / (count - 2));
            break;
        case SIGABRT:
            abort();
        case SIGILL:
            __asm__ volatile("ud2");
            break;
        default:
            kill(getpid(), atoi(arguments[1]));
        }
        return 3;
    }
    skipped();
    aligned();
    mended();
    jumped();
    return 0;
}
