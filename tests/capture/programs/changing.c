#define _GNU_SOURCE /* MAP_ANONYMOUS, memfd_create */
/* Functions that change in random ways: by themselves while they run, by stores of all kinds, by
 * the kernel, by being mapped again; optionally with a timer's signals, and through other addresses
 * of the same memory. usage: changing SEED,ROUNDS,MICROSECONDS,SHARED (between signals; 0: none) */
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define PAGE      4096u
#define PLACES    8u
#define ROOM      (3 * PAGE / PLACES)
#define CODE_MAX  700u
#define CONSTANTS 64u
#define SIGNALS   5000u /* maximum */

typedef unsigned function(void);

static uint64_t state;
static volatile unsigned long signals;
static int ends[2];
static int file = -1;     /* contains the code, if it is shared */
static uint8_t *code;     /* the executed mapping */
static ptrdiff_t aliased; /* offset of the second mapping; 0: none */

static unsigned random_below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20) % limit;
}

/* If each signal takes as long as the timer's interval, the program makes no progress. */
static void count(int number)
{
    const struct itimerval none = {{0, 0}, {0, 0}};
    if (++signals == SIGNALS)
        setitimer(ITIMER_REAL, &none, NULL);
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
    return at + sizeof value;
}

/* add eax, constant; or an instruction that writes to such a constant, before or after itself;
 * calls and jumps. */
static uint8_t *make_one(uint8_t *at, uint8_t **constants, unsigned *known)
{
    unsigned kind = random_below(7);
    if (kind == 1 && *known > 0) { /* inc dword [a constant] */
        *at++ = 0xff, *at++ = 0x05;
        return put32(at, (uint32_t)(constants[random_below(*known)] - (at + 4)));
    }
    if (kind == 2) { /* jmp over a byte */
        *at++ = 0xeb, *at++ = 1, *at++ = 0xcc;
        return at;
    }
    if (kind == 3) { /* call what follows a byte; pop rdx */
        *at++ = 0xe8, at = put32(at, 1);
        *at++ = 0x90, *at++ = 0x5a;
        return at;
    }
    if (kind == 4) { /* test al, 1; jz over a nop */
        *at++ = 0xa8, *at++ = 1, *at++ = 0x74, *at++ = 1, *at++ = 0x90;
        return at;
    }
    if (kind == 5) /* inc byte [the constant of the next instruction] */
        *at++ = 0xfe, *at++ = 0x05, at = put32(at, 1);
    *at++ = 0x05;
    constants[(*known)++] = at;
    return put32(at, random_below(1000));
}

/* xor eax, eax; a loop around a mixture; ret. */
static size_t make(uint8_t *made, unsigned length)
{
    uint8_t *constants[CONSTANTS], *at = made;
    unsigned known = 0;
    *at++ = 0x31, *at++ = 0xc0;
    *at++ = 0xb9, at = put32(at, 1 + random_below(12)); /* mov ecx, times */
    uint8_t *loop = at;
    for (unsigned i = 0; i < length; i++)
        at = make_one(at, constants, &known);
    *at++ = 0xff, *at++ = 0xc9, *at++ = 0x0f, *at++ = 0x85; /* dec ecx; jnz loop */
    at = put32(at, (uint32_t)(loop - (at + 4)));
    *at++ = 0xc3;
    return (size_t)(at - made);
}

static void write_anew(uint8_t *page, size_t bytes, int how)
{
    static uint8_t kept[3 * PAGE];
    if (how == 0) {
        mprotect(page, bytes, PROT_READ | PROT_WRITE);
        return;
    }
    memcpy(kept, page, bytes);
    mmap(page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
         MAP_FIXED | (aliased ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS), file,
         aliased ? page - code : 0);
    memcpy(page, kept, bytes);
}

static void write_code(uint8_t *to, const uint8_t *from, size_t size)
{
    uint8_t *page = (uint8_t *)((uintptr_t)to & ~(uintptr_t)(PAGE - 1));
    size_t bytes = (size_t)(to + size - page + PAGE - 1) & ~(size_t)(PAGE - 1);
    unsigned way = random_below(6);
    bool elsewhere = aliased && way < 3 && random_below(4) > 0;
    if (elsewhere)
        to += aliased;
    if (way == 0) {
        void *target = to;
        __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(size) : : "memory");
    } else if (way == 1) {
        for (size_t i = 0; i < size; i++)
            ((volatile uint8_t *)to)[i] = from[i];
    } else if (way == 2) {
        (void)!write(ends[1], from, size);
        (void)!read(ends[0], to, size);
    } else {
        if (way < 5)
            write_anew(page, bytes, way == 3);
        memcpy(to, from, size);
        mprotect(page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC);
    }
}

static void set_timer(int interval)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, interval}, {0, interval}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* After changing code through other addresses the processor must be serialized. */
static unsigned call(const uint8_t *at)
{
    unsigned a, b, c, d;
    if (aliased)
        __cpuid(0, a, b, c, d);
    return ((function *)(uintptr_t)at)();
}

static void map(bool shared)
{
    const int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
    const size_t size = PLACES * ROOM;
    if (!shared) {
        code = mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return;
    }
    file = memfd_create("code", 0);
    if (ftruncate(file, size) != 0)
        perror("ftruncate");
    code = mmap(NULL, size, rights, MAP_SHARED, file, 0);
    uint8_t *alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    aliased = alias - code;
}

int main(int argument_count, char **arguments)
{
    unsigned seed = 1, rounds = 10;
    int interval = 0, shared = 0;
    uint64_t sum = 0;
    uint8_t *places[PLACES] = {NULL}, made[2 * CODE_MAX];
    if (argument_count > 1)
        sscanf(arguments[1], "%u,%u,%d,%d", &seed, &rounds, &interval, &shared);
    state = 88172645463325252u + seed * 1000003u;
    map(shared);
    if (code == MAP_FAILED || pipe(ends) != 0)
        return 1;
    if (interval)
        set_timer(interval);
    for (unsigned i = 0; i < rounds; i++) {
        unsigned which = random_below(PLACES);
        if (!places[which] || random_below(3) == 0) {
            places[which] = code + which * ROOM + random_below(ROOM - CODE_MAX);
            size_t size = make(made, 1 + random_below(40));
            write_code(places[which], made, size);
        }
        sum = sum * 31 + call(places[which]);
    }
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
