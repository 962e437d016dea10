#define _GNU_SOURCE /* memfd_create, registers in ucontext_t */
/* Code that changes without stores to its own addresses: through other mappings of the same memory,
 * through its file, by other threads and processes. The program serializes with cpuid after such
 * changes, as the processor requires. With an argument there are no threads. */
#include <cpuid.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE  4096
#define TICKS 5000 /* maximum of a timer */

typedef int function(void);

static const uint8_t returns[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov eax, 0; ret */

static int file;
static uint8_t *code;  /* executable, */
static uint8_t *alias; /* and writable */
static volatile unsigned long ticks;

static void serialize(void)
{
    unsigned a, b, c, d;
    __cpuid(0, a, b, c, d);
}

static int call(const uint8_t *at)
{
    serialize();
    return ((function *)(uintptr_t)at)();
}

static void make_number(uint8_t made[sizeof returns], int number)
{
    memcpy(made, returns, sizeof returns);
    memcpy(made + 1, &number, sizeof number);
}

static void put_number(size_t at, int number)
{
    uint8_t made[sizeof returns];
    make_number(made, number);
    memcpy(alias + at, made, sizeof made);
}

static void map(void)
{
    file = memfd_create("code", 0);
    if (ftruncate(file, 2 * PAGE) != 0)
        perror("ftruncate");
    alias = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
}

static void numbers(size_t at)
{
    long sum = 0;
    for (int i = 0; i < 500; i++) {
        put_number(at, 7 * i);
        sum += call(code + at);
        if (i % 3 == 0)
            alias[at + 1]++;
        sum += 1000 * call(code + at);
    }
    printf("numbers at %zu: %ld\n", at, sum);
}

static void in_the_file(void)
{
    long sum = 0;
    for (int i = 0; i < 200; i++) {
        uint8_t made[sizeof returns];
        make_number(made, i);
        if (pwrite(file, made, sizeof made, 16) != sizeof made)
            perror("pwrite");
        sum = 3 * sum + call(code + 16);
    }
    printf("in the file: %lx\n", sum);
}

/* Functions of all lengths, in which one byte changes: the operand of one of many instructions. */
static void lengths(void)
{
    unsigned long sum = 0;
    for (unsigned length = 1; length < 100; length++) {
        uint8_t *at = alias + 1000;
        for (unsigned i = 0; i < length; i++, at += 3)
            memcpy(at, "\x83\xc0\x01", 3); /* add eax, 1 */
        *at = 0xc3;
        memcpy(alias + 995, "\x90\x90\x90\x31\xc0", 5); /* nops; xor eax, eax */
        for (unsigned i = 0; i < length; i += 1 + length / 8) {
            sum = 5 * sum + (unsigned)call(code + 995);
            alias[1000 + 3 * i + 2] = (uint8_t)(i % 100);
            sum = 5 * sum + (unsigned)call(code + 995);
        }
        for (unsigned i = 0; i < 4; i++) { /* each time with a later entry */
            sum = 5 * sum + (unsigned)call(code + 995 + i);
            alias[1002]++;
        }
    }
    printf("lengths: %lx\n", sum);
}

/* A loop that adds a constant, and increments it through the writable mapping. */
static void itself(void)
{
    static const uint8_t loop[] = {
        0x53,                         /*    push rbx */
        0x31, 0xf6,                   /*    xor esi, esi */
        0xff, 0x07,                   /* 1: inc dword [rdi] */
        0x31, 0xc0, 0x0f, 0xa2,       /*    xor eax, eax; cpuid */
        0x81, 0xc6, 5,    0,    0, 0, /* add esi, 5 */
        0x41, 0xff, 0xc8,             /*    dec r8d */
        0x75, 0xef,                   /*    jne 1b */
        0x89, 0xf0, 0x5b, 0xc3        /*    mov eax, esi; pop rbx; ret */
    };
    memcpy(alias + 64, loop, sizeof loop);
    for (int i = 1; i < 60; i += 20) {
        int sum;
        uint8_t *constant = alias + 64 + 11;
        register long times __asm__("r8") = i;
        __asm__ volatile("call *%3"
                         : "=a"(sum), "+D"(constant), "+r"(times)
                         : "r"(code + 64)
                         : "rcx", "rdx", "rsi", "memory", "cc");
        printf("itself: %d\n", sum);
    }
}

static void *change(void *argument)
{
    for (int i = 1; i <= 50; i++) {
        put_number(128, i);
        while (*(volatile int *)argument != i)
            usleep(50);
    }
    return NULL;
}

/* Each number must be observed; the other thread waits for that. */
static void by_a_thread(void)
{
    static volatile int seen;
    int last = 0;
    pthread_t thread;
    put_number(128, 0);
    if (pthread_create(&thread, NULL, change, (void *)(uintptr_t)&seen) != 0) {
        printf("by a thread: none\n");
        return;
    }
    while (last != 50) {
        int now = call(code + 128);
        if (now != last && now != last + 1)
            printf("by a thread: %d after %d\n", now, last);
        seen = last = now;
    }
    pthread_join(thread, NULL);
    printf("by a thread: %d\n", last);
}

/* In memory that is also writable here. */
static void by_a_child(void)
{
    long sum = 0;
    code = alias =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    put_number(0, 1);
    for (int i = 0; i < 20; i++) {
        sum = 3 * sum + call(code);
        pid_t child = fork();
        if (child == 0) {
            put_number(0, i + call(code));
            _exit(0);
        }
        waitpid(child, NULL, 0);
        sum = 3 * sum + call(code);
        if (i % 4 == 0)
            put_number(0, i);
    }
    printf("by a child: %lx\n", sum);
}

static void in_a_segment(void)
{
    int segment = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600), sum = 0;
    alias = shmat(segment, NULL, 0);
    code = shmat(segment, NULL, SHM_EXEC | SHM_RDONLY);
    shmctl(segment, IPC_RMID, NULL);
    for (int i = 0; i < 50; i++) {
        put_number(8, i);
        sum += call(code + 8);
    }
    printf("in a segment: %d\n", sum);
}

/* If each signal takes as long as the timer's interval, the program makes no progress. */
static void tick(int number)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    if (++ticks == TICKS)
        setitimer(ITIMER_REAL, &none, NULL);
}

static void repair_code(int number, siginfo_t *information, void *context)
{
    ticks++;
    alias[201] = 0xc0; /* inc eax */
    serialize();
}

/* Invalid bytes become an instruction; the first byte stays the same. */
static void no_instruction(void)
{
    struct sigaction action = {.sa_sigaction = repair_code, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
    memcpy(alias + 200, "\xff\xff\xc3", 3);
    ticks = 0;
    for (int i = 0; i < 3; i++)
        call(code + 200);
    alias[201] = 0xff;
    call(code + 200);
    printf("no instruction: %lu\n", ticks);
}

static sigjmp_buf back;
static volatile unsigned long counter;
static uint8_t *volatile where_lost;

static void lost(int number, siginfo_t *information, void *context)
{
    const ucontext_t *where = context;
    counter = (unsigned long)where->uc_mcontext.gregs[REG_RCX];
    where_lost = information->si_addr;
    siglongjmp(back, 1);
}

/* Calls code after the end of its file; the last function was never executed before. */
static void no_file(void)
{
    struct sigaction action = {.sa_sigaction = lost, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    put_number(PAGE + 64, 99);
    for (int i = 0; i < 3; i++) {
        const uint8_t *at = code + PAGE + (i == 2 ? 256 : 64);
        if (i == 1 && ftruncate(file, PAGE) != 0)
            perror("ftruncate");
        if (sigsetjmp(back, 1) == 0) {
            int result;
            unsigned long count = 12345;
            __asm__ volatile("call *%2" : "=a"(result), "+c"(count) : "r"(at));
            printf("no file: %d %lu\n", result, count);
        } else {
            printf("no file: lost, %lu\n", counter);
        }
    }
}

/* The same in private memory whose file was always too short; and an instruction of which half is
 * in the file. */
static void no_private_file(void)
{
    static const int places[] = {PAGE + 64, PAGE - 2};
    uint8_t made[sizeof returns];
    make_number(made, 99);
    if (pwrite(file, made, 2, PAGE - 2) != 2)
        perror("pwrite");
    code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    for (int i = 0; i < 2; i++)
        if (sigsetjmp(back, 1) == 0)
            printf("no private file: %d\n", call(code + places[i]));
        else
            printf("no private file: lost, %ld\n", (long)(where_lost - code));
}

int main(int count, char **arguments)
{
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
    setvbuf(stdout, NULL, _IONBF, 0); /* children */
    map();
    numbers(0);
    numbers(PAGE - 3);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    numbers(32);
    lengths();
    setitimer(ITIMER_REAL, &none, NULL);
    in_the_file();
    itself();
    (void)arguments;
    if (count == 1)
        by_a_thread();
    no_instruction();
    no_file();
    no_private_file();
    by_a_child();
    in_a_segment();
    return 0;
}
