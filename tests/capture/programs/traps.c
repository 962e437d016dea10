#define _GNU_SOURCE /* REG_RIP */
/* Rare instructions: those that raise unexpected signals, and the information that their handlers
 * receive; segments; nested frames. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#define ROOM      4096
#define HAS_BASES 2 /* instructions for the bases of fs and gs */

static sigjmp_buf back;
static uint8_t *code;
static uint64_t outside; /* rsp of the caller */

/* Prints a number, relative to the code if it is an address in it. */
static void print_place(const char *name, uint64_t place)
{
    uint64_t offset = place - (uint64_t)(uintptr_t)code;
    if (offset <= ROOM)
        printf(", %s +%llx", name, (unsigned long long)offset);
    else
        printf(", %s %llx", name, (unsigned long long)place);
}

/*
 * int1 is a trap: rip is that of the next instruction (AMD64 manual, volume 3, INT1). Under some
 * hypervisors on AMD's processors it arrives as a fault, with rip at int1 itself: 1 there.
 */
static unsigned lag_of_int1(const greg_t *registers)
{
    uint64_t offset = (uint64_t)registers[REG_RIP] - (uint64_t)(uintptr_t)code;
    return registers[REG_TRAPNO] == 1 && offset < ROOM && code[offset] == 0xf1;
}

static void tell(int number, siginfo_t *info, void *context)
{
    const ucontext_t *state = context;
    const greg_t *registers = state->uc_mcontext.gregs;
    unsigned lag = lag_of_int1(registers);
    printf("signal %d, code %d, trap %d, error %x", number, info->si_code,
           (int)registers[REG_TRAPNO], (unsigned)registers[REG_ERR]);
    print_place("at", (uint64_t)registers[REG_RIP] + lag);
    print_place("address", (uint64_t)(uintptr_t)info->si_addr + lag);
    print_place("rax", (uint64_t)registers[REG_RAX]);
    uint64_t pushed = outside - (uint64_t)registers[REG_RSP];
    printf(", pushed %d\n", pushed < ROOM ? (int)pushed : -1);
    siglongjmp(back, 1);
}

struct attempt {
    const char *name;
    uint8_t size;
    uint8_t bytes[24];
};

static const struct attempt attempts[] = {
    {"lretq to nothing", 6, {0x6a, 0, 0x6a, 0, 0x48, 0xcb}},
    {"lretq to another ring", 6, {0x6a, 0x10, 0x6a, 0, 0x48, 0xcb}},
    {"lretq to ring 0", 6, {0x6a, 0x30, 0x6a, 0, 0x48, 0xcb}},
    {"lretq to data", 6, {0x6a, 0x2b, 0x6a, 0, 0x48, 0xcb}},
    {"lretq to a local segment", 6, {0x6a, 0x57, 0x6a, 0, 0x48, 0xcb}},
    {"lret to a local segment", 8, {0x6a, 0x57, 0x6a, 0x57, 0x6a, 0x57, 0xcb}},
    {"lretw", 6, {0x6a, 0x77, 0x66, 0xca, 8, 0}},
    {"iretq to nothing", 6, {0x6a, 0, 0x6a, 0, 0x48, 0xcf}},
    {"iretq to data", 6, {0x6a, 0x2b, 0x6a, 0, 0x48, 0xcf}},
    {"iret", 6, {0x6a, 0x2b, 0x6a, 0, 0xcf}},
    {"lretq to data's end", 6, {0x6a, 0x33, 0x6a, 0, 0x48, 0xcb}}, /* goes to 0 */
    {"lretq to nowhere", 15, {0x6a, 0x33, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x50, 0x48, 0xcb}},
    {"iretq without a stack segment",
     13,
     {0x6a, 0, 0x6a, 0, 0x6a, 0, 0x6a, 0x33, 0x6a, 0, 0x48, 0xcf}},
    {"int 0", 2, {0xcd, 0}},
    {"int 5", 2, {0xcd, 5}},
    {"int 3", 3, {0x90, 0xcd, 3}},
    {"int 4", 3, {0x90, 0xcd, 4}},
    {"int 0xff", 3, {0x90, 0xcd, 0xff}},
    {"int1", 2, {0x90, 0xf1}},
    {"int3", 2, {0x90, 0xcc}},
    {"gs, null", 5, {0x31, 0xc0, 0x8e, 0xe8, 0xc3}},
    {"gs, rpl 3", 8, {0xb8, 3, 0, 0, 0, 0x8e, 0xe8, 0xc3}},
    {"gs, kernel", 8, {0xb8, 0x10, 0, 0, 0, 0x8e, 0xe8, 0xc3}},
    {"gs, local", 9, {0x41, 0xb8, 0x57, 0, 0, 0, 0x41, 0x8e, 0xe8}},
    {"gs, no limit", 8, {0xb8, 0xf8, 0xff, 0, 0, 0x8e, 0xe8, 0xc3}},
    {"fs, kernel", 8, {0xb8, 0x10, 0, 0, 0, 0x8e, 0xe0, 0xc3}},
    {"ds", 8, {0xb8, 0x2b, 0, 0, 0, 0x8e, 0xd8, 0xc3}},
    {"ds, null", 8, {0xb8, 0, 0, 0, 0, 0x8e, 0xd8, 0xc3}},
    {"es, kernel", 8, {0xb8, 0x18, 0, 0, 0, 0x8e, 0xc0, 0xc3}},
    {"ss, null", 8, {0xb8, 0, 0, 0, 0, 0x8e, 0xd0, 0xc3}},
    {"gs: at an address", 9, {0x65, 0x8b, 4, 0x25, 0x18, 0, 0, 0, 0xc3}},
    {"wrgsbase", 11, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xf3}}, /* completed below */
    {"wrfsbase", 11, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xf3}},
    {"jmp nowhere", 12, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xff, 0xe0}},
    {"call nowhere", 12, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xff, 0xd0}},
    {"ret nowhere", 12, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x50, 0xc3}},
    {"ret 8 nowhere", 14, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x50, 0xc2, 8, 0}},
    {"jmp above", 12, {0x48, 0xb8, 0, 0, 0, 0x40, 1, 0, 0, 0, 0xff, 0xe0}},
    {"load from nowhere", 13, {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x48, 0x8b, 0}},
    {"14 prefixes",
     16,
     {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90,
      0xc3}},
    {"15 prefixes",
     16,
     {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
      0x90}},
    {"20 prefixes", 22, {0x90, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e,
                         0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x90}},
    {"no instruction", 3, {0x90, 0xff, 0xff}},
    {"invalid lock prefix", 3, {0x90, 0xf0, 0x90}},
    {"ud2", 3, {0x90, 0x0f, 0x0b}},
    {"hlt", 2, {0x90, 0xf4}},
};

static void call(const uint8_t *at)
{
    __asm__ volatile("xor %%eax, %%eax\n"
                     "mov %%rsp, %0\n"
                     "call *%1"
                     : "=m"(outside)
                     : "r"(at)
                     : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory",
                       "cc");
}

static void attempt(const struct attempt *what)
{
    static const uint8_t base[] = {0xf3, 0x48, 0x0f, 0xae};
    if (strncmp(what->name, "wr", 2) == 0 && !(getauxval(AT_HWCAP2) & HAS_BASES))
        return;
    memset(code, 0xcc, ROOM);
    memcpy(code, what->bytes, what->size);
    if (strncmp(what->name, "wr", 2) == 0) {
        memcpy(code + 10, base, sizeof base);
        code[14] = what->name[2] == 'g' ? 0xd8 : 0xd0;
    }
    for (volatile int times = 0; times < 3; times++) { /* the code is translated by then */
        printf("%s: ", what->name);
        fflush(stdout);
        if (sigsetjmp(back, 1))
            continue;
        call(code);
        printf("continued\n");
    }
}

/* An instruction truncated by the end of its mapping. */
static void cut_off(void)
{
    printf("truncated: ");
    fflush(stdout);
    memset(code, 0x90, ROOM);
    memset(code + ROOM - 5, 0x66, 5);
    munmap(code + ROOM, ROOM);
    if (!sigsetjmp(back, 1))
        call(code + ROOM - 16);
}

/* gs has the base 0. */
static void segments(void)
{
    uint64_t value = 4711, to = 0, base = 5;
    const uint64_t *from = &value;
    __asm__ volatile("mov %%gs:(%1), %0" : "=r"(to) : "r"(from) : "memory");
    printf("gs: %d", (int)to);
    __asm__ volatile("movq $12, %%gs:(%0)\n"
                     "addl $3, %%gs:(%0)"
                     :
                     : "r"(from)
                     : "memory", "cc");
    printf(" %d", (int)value);
    __asm__ volatile(".byte 0x64, 0x65; movsb" : "+S"(from), "+D"(from) : : "memory");
    __asm__ volatile("mov %%gs, %0" : "=r"(to));
    __asm__ volatile("xor %%eax, %%eax; mov %%eax, %%gs" : : : "rax", "cc");
    printf(" %d\n", (int)to);
    if (!(getauxval(AT_HWCAP2) & HAS_BASES))
        return;
    __asm__ volatile("rdgsbase %0" : "=r"(base));
    printf("base: %d", (int)base);
    __asm__ volatile("rdgsbase %k0" : "=r"(base) : "0"(UINT64_MAX));
    __asm__ volatile("wrgsbase %q0" : : "r"((uint64_t)0));
    printf(" %d\n", (int)base);
}

/* Frames nested in those of outer functions. */
static uint64_t nested(int level, uint64_t *stack)
{
    uint64_t rsp, rbp, *top = stack + 60, *frame = stack + 120, sum = 0;
    for (int i = 0; i < 128; i++)
        stack[i] = 1000 + (uint64_t)i;
#define NESTED(number, enter)                                                                      \
    case number:                                                                                   \
        __asm__ volatile("push %%rbp; mov %%rsp, %%rbx; mov %3, %%rsp; mov %4, %%rbp\n" enter      \
                         "mov %%rsp, %0; mov %%rbp, %1; mov %%rbx, %%rsp; pop %%rbp"               \
                         : "=&S"(rsp), "=&D"(rbp), "=m"(*stack)                                    \
                         : "r"(top), "r"(frame)                                                    \
                         : "rbx", "memory");                                                       \
        break
    switch (level) {
        NESTED(0, "enter $16, $0\n");
        NESTED(1, "enter $0, $1\n");
        NESTED(2, "enter $16, $2\n");
        NESTED(3, "enter $24, $3\n");
        NESTED(4, "enter $8, $31\n");
        NESTED(5, "enter $8, $33\n");
        NESTED(6, "enterw $8, $3\n");
    default:
        return 0;
    }
    for (int i = 0; i < 128; i++)
        sum = 31 * sum + (stack[i] < 2000 ? stack[i] : stack[i] - (uint64_t)(uintptr_t)stack);
    printf("nested %d: rsp %d, rbp %d, %llx\n", level, (int)(rsp - (uint64_t)(uintptr_t)stack),
           level == 6 ? (int)((rbp - (uint64_t)(uintptr_t)stack) & 0xffff)
                      : (int)(rbp - (uint64_t)(uintptr_t)stack),
           (unsigned long long)(level == 6 ? stack[0] : sum));
    return sum;
}

/* Far branches within the flat code segment. */
static void far_branches(void)
{
    uint64_t sum = 0, flags = 0, moved = 0;
    struct __attribute__((packed)) {
        uint32_t offset;
        uint16_t selector;
    } pointer;
    __asm__ volatile("mov $5, %%ecx\n"
                     "1: lea 2f(%%rip), %%rax; mov %%rsp, %%rbx\n"
                     "push $0x33; push %%rax; lretq\n"
                     "ud2\n"
                     "2: sub %%rsp, %%rbx; add %%rbx, %0; add $1, %0\n"
                     "lea 3f(%%rip), %%rax; mov %%rsp, %%rbx\n"
                     "push %%rax; push %%rax; push $0x33; push %%rax; lretq $16\n"
                     "ud2\n"
                     "3: sub %%rsp, %%rbx; add %%rbx, %1; add $100, %0\n"
                     "lea 4f(%%rip), %%rax; mov %%rsp, %%rbx\n"
                     "push $0x2b; lea -512(%%rbx), %%rdx; push %%rdx\n"
                     "push $0x8d7; push $0x33; push %%rax; iretq\n"
                     "ud2\n"
                     "4: pushfq; pop %2; lea 512(%%rsp), %%rdx; mov %%rbx, %%rsp\n"
                     "sub %%rbx, %%rdx; add %%rdx, %1\n"
                     "dec %%ecx; jnz 1b"
                     : "+r"(sum), "+r"(moved), "=&r"(flags)
                     :
                     : "rax", "rbx", "rcx", "rdx", "memory", "cc");
    printf("far: %d %d %x\n", (int)sum, (int)moved, (unsigned)flags & 0xfff);
    uint8_t *low = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    static const uint8_t back[] = {0xff, 0xc1, 0xcb};       /* inc ecx; lret */
    static const uint8_t jump[] = {0xff, 0xc1, 0xff, 0xe2}; /* inc ecx; jmp *rdx */
    static const uint8_t call[] = {0xff, 0x18, 0xff, 0xe2}; /* lcall *(rax); jmp *rdx */
    if (low == MAP_FAILED)
        return;
    memcpy(low, back, sizeof back);
    memcpy(low + 64, jump, sizeof jump);
    memcpy(low + 128, call, sizeof call);
    for (int way = 0; way < 2; way++) {
        uint64_t count = 0;
        pointer.offset = (uint32_t)(uintptr_t)low + (way ? 64 : 0);
        pointer.selector = 0x33;
        if (way)
            __asm__ volatile("lea 1f(%%rip), %%rdx; ljmp *(%%rax)\n1:"
                             : "+c"(count)
                             : "a"(&pointer)
                             : "rdx", "memory", "cc");
        else
            __asm__ volatile("lea 1f(%%rip), %%rdx; jmp *%%rbx\n1:"
                             : "+c"(count)
                             : "a"(&pointer), "b"(low + 128)
                             : "rdx", "memory", "cc");
        printf("far: %d\n", (int)count);
    }
}

int main(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
    struct sigaction action = {.sa_sigaction = tell,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    static char alternate[65536];
    static uint64_t stack[128];
    stack_t other = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&other, NULL);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    code = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
    for (unsigned i = 0; i < sizeof attempts / sizeof *attempts; i++)
        attempt(&attempts[i]);
    cut_off();
    segments();
    far_branches();
    for (int level = 0; level < 7; level++)
        nested(level, stack);
    return 0;
}
