#define _GNU_SOURCE /* SA_ONSTACK */
#include "capture/exec/dispatch/trampoline.h"
#include "tests/suites.h"
#include "tests/support/exec_oracle.h"
#include "tests/support/exec_rig.h"
#include "tests/support/exec_sample.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define INT3    0xccu
#define END     (EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES - 16)
#define STACK   (EXEC_RIG_DATA + EXEC_RIG_DATA_BYTES - 256)
#define ROOM    (1u << 20)
#define NUMBERS 600u

static const uint64_t counts[] = {NUMBERS, 8, 1500, 700};

/* Prepares the samples' data and registers; they return to an int3. */
static void prepare(struct exec_rig *rig, struct machine *machine, unsigned sample, uint64_t seed)
{
    uint64_t random = random_seed(seed);
    size_t size;
    const void *code = exec_sample_code(&size);
    memcpy(rig->code, code, size);
    rig->code[END - EXEC_RIG_CODE] = INT3;
    random_fill(&random, rig->data, EXEC_RIG_DATA_BYTES);
    memset(machine, 0, sizeof *machine);
    machine->vector[24] = 0x80; /* MXCSR */
    machine->vector[25] = 0x1f;
    machine->flags = 0x202;
    machine->rip = exec_sample_at(&exec_samples[sample], EXEC_RIG_CODE);
    machine->registers[DECODE_RDI] = EXEC_RIG_DATA;
    machine->registers[DECODE_RSI] = counts[sample];
    machine->registers[DECODE_RSP] = STACK - 8;
    uint64_t end = END;
    memcpy(rig->data + (STACK - 8 - EXEC_RIG_DATA), &end, sizeof end);
}

struct expected {
    struct machine machine;
    uint8_t data[EXEC_RIG_DATA_BYTES];
    struct record *records;
    size_t count;
};

static void expect(struct exec_rig *rig, struct expected *expected, unsigned sample)
{
    static struct record records[ROOM];
    struct native_end end;
    prepare(rig, &expected->machine, sample, sample);
    expected->records = records;
    expected->count = exec_oracle_run(&expected->machine, records, ROOM, &end);
    CU_ASSERT_EQUAL(end.signal, SIGTRAP);
    memcpy(expected->data, rig->data, sizeof expected->data);
}

/* Runs a sample to its end. Returns the number of runs. */
static unsigned run_sample(struct exec_rig *rig, unsigned sample, struct record *records,
                           size_t *count)
{
    struct machine machine;
    struct executor_stop stop;
    unsigned runs = 0;
    *count = 0;
    prepare(rig, &machine, sample, sample);
    exec_rig_load(rig, &machine);
    do {
        stop = exec_rig_run(rig);
        CU_ASSERT_FATAL(rig->count == rig->total && *count + rig->count <= ROOM);
        memcpy(records + *count, rig->records, rig->count * sizeof *records);
        *count += rig->count;
        runs++;
        if (stop.reason == EXECUTOR_INTERRUPTED)
            rig->thread->interrupt = 0;
    } while (stop.reason == EXECUTOR_INTERRUPTED ||
             (stop.reason == EXECUTOR_BRANCH && rig->thread->rip != END));
    CU_ASSERT(stop.reason == EXECUTOR_TRAP || stop.reason == EXECUTOR_BRANCH);
    CU_ASSERT_EQUAL(rig->thread->rip, END);
    return runs;
}

static void check_sample(struct exec_rig *rig, const struct expected *expected, unsigned sample,
                         enum exec_trace trace)
{
    static struct record records[ROOM];
    struct machine machine;
    size_t count;
    run_sample(rig, sample, records, &count);
    exec_rig_save(rig, &machine);
    const char *difference = machine_difference(&expected->machine, &machine);
    if (difference)
        printf("%s: %s\n", exec_samples[sample].name, difference);
    CU_ASSERT_PTR_NULL(difference);
    CU_ASSERT(memcmp(expected->data, rig->data, sizeof expected->data) == 0);
    if (trace == EXEC_TRACE_ALL) {
        CU_ASSERT_EQUAL(count, expected->count);
        CU_ASSERT(memcmp(expected->records, records, count * sizeof *records) == 0);
    }
    size_t fetches = 0, same = 0;
    for (size_t i = 0; i < expected->count && trace == EXEC_TRACE_FETCHES; i++)
        if (expected->records[i].type == REQUEST_FETCH) {
            same += fetches < count &&
                    memcmp(&expected->records[i], &records[fetches], sizeof *records) == 0;
            fetches++;
        }
    if (trace == EXEC_TRACE_FETCHES)
        CU_ASSERT(same == fetches && count == fetches);
    if (trace == EXEC_TRACE_NONE)
        CU_ASSERT_EQUAL(count, 0);
}

/* A way to execute the samples. */
struct way {
    enum exec_trace trace;
    bool stepping;
    size_t buffer, cache;
};

/* expected: filled in, unless NULL. */
static void begin_way(struct exec_rig *rig, const struct way *way, unsigned sample,
                      struct expected *expected)
{
    CU_ASSERT_FATAL(exec_rig_begin(rig, way->trace, way->stepping, way->buffer, way->cache));
    if (expected)
        expect(rig, expected, sample);
}

/* Whole programs, with large and small buffers, with caches that are full after a few blocks, in
 * one run and branch by branch: the same as single-stepped on the processor. */
static void test_samples(void)
{
    static const struct way ways[] = {
        {EXEC_TRACE_ALL, false, 0, 0},        {EXEC_TRACE_ALL, true, 0, 0},
        {EXEC_TRACE_ALL, false, 4096, 0},     {EXEC_TRACE_ALL, false, 4096, 16384},
        {EXEC_TRACE_FETCHES, false, 4096, 0}, {EXEC_TRACE_FETCHES, true, 0, 0},
        {EXEC_TRACE_NONE, false, 0, 0},       {EXEC_TRACE_NONE, true, 4096, 16384}};
    static struct expected expected;
    for (unsigned sample = 0; sample < 4; sample++)
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct exec_rig rig;
            begin_way(&rig, &ways[i], sample, i == 0 ? &expected : NULL);
            check_sample(&rig, &expected, sample, ways[i].trace);
            exec_rig_end(&rig);
        }
}

/* more than any test executes */
#define TURN ((int64_t)1 << 30)

/* Limits use the count of turns. */
static void count_limits(struct exec_rig *rig)
{
    rig->thread->turn = TURN;
    executor_count_limits(rig->executor);
}

/* Stops at any exact count, and continues without a difference. */
static void check_limits(bool counted)
{
    static struct expected expected;
    static const uint64_t limits[] = {1, 2, 3, 17, 1000, 1001, 1002, 20000, 0};
    struct exec_rig rig;
    struct machine machine;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 4096, 0));
    if (counted)
        count_limits(&rig);
    expect(&rig, &expected, 0);
    prepare(&rig, &machine, 0, 0);
    exec_rig_load(&rig, &machine);
    size_t at = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        executor_limit(rig.executor, limits[i]);
        struct executor_stop stop = exec_rig_run(&rig);
        CU_ASSERT_EQUAL(stop.reason, limits[i] ? EXECUTOR_LIMIT : EXECUTOR_TRAP);
        if (limits[i])
            CU_ASSERT_EQUAL(executor_instructions(rig.executor), limits[i]);
        CU_ASSERT_FATAL(at + rig.count <= expected.count);
        CU_ASSERT(memcmp(rig.records, expected.records + at, rig.count * sizeof(struct record)) ==
                  0);
        at += rig.count;
        CU_ASSERT(limits[i] == 0 || rig.thread->rip == expected.records[at].address);
    }
    CU_ASSERT_EQUAL(at, expected.count);
    exec_rig_save(&rig, &machine);
    CU_ASSERT_PTR_NULL(machine_difference(&expected.machine, &machine));
    exec_rig_end(&rig);
}

static void test_limit(void)
{
    for (unsigned way = 0; way < 2; way++)
        check_limits(way);
}

/* Consecutive limits through whole programs, in the middle of blocks and at string instructions:
 * together they give the records of a run without limits. */
static void check_counted(unsigned sample, unsigned stride, bool interrupted)
{
    static struct expected expected;
    struct exec_rig rig;
    struct machine machine;
    struct executor_stop stop;
    size_t at = 0;
    uint64_t limit = stride;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 4096, 0));
    count_limits(&rig);
    expect(&rig, &expected, sample);
    prepare(&rig, &machine, sample, sample);
    exec_rig_load(&rig, &machine);
    executor_limit(rig.executor, limit);
    do {
        rig.thread->interrupt =
            interrupted && limit % 3 == 0 && executor_instructions(rig.executor) == limit - stride;
        stop = exec_rig_run(&rig);
        CU_ASSERT_FATAL(at + rig.count <= expected.count);
        CU_ASSERT(memcmp(rig.records, expected.records + at, rig.count * sizeof(struct record)) ==
                  0);
        at += rig.count;
        if (stop.reason == EXECUTOR_INTERRUPTED) {
            rig.thread->interrupt = 0;
            executor_limit(rig.executor, ++limit);
        } else if (stop.reason == EXECUTOR_LIMIT) {
            CU_ASSERT_EQUAL(executor_instructions(rig.executor), limit);
            executor_limit(rig.executor, limit += stride);
        }
    } while (stop.reason == EXECUTOR_LIMIT || stop.reason == EXECUTOR_INTERRUPTED);
    CU_ASSERT(stop.reason == EXECUTOR_TRAP && at == expected.count);
    CU_ASSERT_EQUAL(rig.thread->turn, TURN - (int64_t)executor_instructions(rig.executor));
    exec_rig_save(&rig, &machine);
    CU_ASSERT_PTR_NULL(machine_difference(&expected.machine, &machine));
    exec_rig_end(&rig);
}

static void test_counted_limits(void)
{
    for (unsigned sample = 0; sample < 4; sample++) {
        check_counted(sample, 1, false);
        check_counted(sample, 7, true);
        check_counted(sample, 100, false);
    }
}

/* A timer interrupts everywhere: between instructions, at blocks' ends, in our own code. The
 * executed instructions and the records are the same. ("text" has string instructions, which are
 * fetched again after an interruption.) */
static void test_interrupted(void)
{
    static const struct way ways[] = {
        {EXEC_TRACE_ALL, false, 0, 0},        {EXEC_TRACE_ALL, true, 0, 0},
        {EXEC_TRACE_ALL, false, 4096, 16384}, {EXEC_TRACE_ALL, false, 4096, 0},
        {EXEC_TRACE_FETCHES, false, 0, 0},    {EXEC_TRACE_NONE, false, 0, 0}};
    static struct expected expected;
    static struct record dropped[ROOM];
    size_t count;
    const struct itimerval every = {{0, 37}, {0, 37}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    action.sa_sigaction = (void (*)(int, siginfo_t *, void *))exec_signal_entry;
    sigfillset(&action.sa_mask);
    for (unsigned sample = 0; sample < 4; sample++)
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct exec_rig rig;
            begin_way(&rig, &ways[i], sample, i == 0 ? &expected : NULL);
            sigaction(SIGALRM, &action, &before);
            setitimer(ITIMER_REAL, &every, NULL);
            for (unsigned round = 0; round < 2000 && rig.interruptions < 50; round++)
                if (sample == 2 && ways[i].trace != EXEC_TRACE_NONE)
                    run_sample(&rig, sample, dropped, &count);
                else
                    check_sample(&rig, &expected, sample, ways[i].trace);
            setitimer(ITIMER_REAL, &never, NULL);
            sigaction(SIGALRM, &before, NULL);
            CU_ASSERT(rig.interruptions >= 50);
            exec_rig_end(&rig);
        }
}

/* --- handwritten code ------------------------------------------------------------------------- */

static void begin_at(struct exec_rig *rig, const uint8_t *code, size_t size)
{
    memcpy(rig->code, code, size);
    memset(rig->thread->registers, 0, sizeof rig->thread->registers);
    rig->thread->registers[DECODE_RSP] = STACK;
    rig->thread->flags = 0x202;
    rig->thread->rip = EXEC_RIG_CODE;
}

/* A limit after many full buffers, in the middle of a loop. */
static void check_limit_in_loop(bool counted)
{
    static const uint8_t code[] = {0xb9, 0x40, 0x42, 0x0f, 0x00,  /* mov ecx, 1000000 */
                                   0xff, 0xc9, 0x75, 0xfc, INT3}; /* dec ecx; jnz */
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_FETCHES, false, 4096, 0));
    begin_at(&rig, code, sizeof code);
    if (counted)
        count_limits(&rig);
    executor_limit(rig.executor, 1500002);
    struct executor_stop stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_LIMIT);
    CU_ASSERT_EQUAL(rig.total, 1500002);
    CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + 7);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RCX], 1000000 - 750001);
    executor_limit(rig.executor, 0);
    stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(executor_instructions(rig.executor), 2000001);
    exec_rig_end(&rig);
}

static void test_limit_in_loop(void)
{
    for (unsigned way = 0; way < 2; way++)
        check_limit_in_loop(way);
}

/* The end of a count, of a limit or of a turn: at each instruction of a block with a system call
 * after a string instruction, with a full trace, or only counted. */
static void test_count_ends(void)
{
    static const uint8_t code[] = {0x90, 0xb9, 5,    0,   0, 0, /* nop; mov ecx, 5 */
                                   0xf3, 0xa4,                  /* rep movsb */
                                   0xb8, 39,   0,    0,   0,    /* mov eax, 39 */
                                   0x0f, 0x05,                  /* syscall */
                                   0x90, 0x90, 0x90, INT3};     /* nops */
    static const uint8_t places[] = {1, 6, 8, 13, 15, 16, 17};
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    count_limits(&rig);
    for (unsigned i = 0; i < 4 * sizeof places; i++) {
        const unsigned place = i % sizeof places, number = place + 1;
        const bool turn = i / sizeof places & 1;
        begin_at(&rig, code, sizeof code);
        rig.thread->registers[DECODE_RSI] = EXEC_RIG_DATA;
        rig.thread->registers[DECODE_RDI] = EXEC_RIG_DATA + 64;
        executor_set_trace(rig.executor, i / sizeof places & 2 ? EXEC_TRACE_COUNT : EXEC_TRACE_ALL);
        const uint64_t before = executor_instructions(rig.executor);
        rig.thread->turn = turn ? number : TURN;
        executor_limit(rig.executor, before + number + (turn ? 2 : 0));
        struct executor_stop stop = exec_rig_run(&rig);
        if (number >= 5) {
            CU_ASSERT(stop.reason == EXECUTOR_SYSTEM_CALL && rig.thread->rip == EXEC_RIG_CODE + 15);
            stop = exec_rig_run(&rig);
        }
        CU_ASSERT_EQUAL(stop.reason, turn ? EXECUTOR_TURN : EXECUTOR_LIMIT);
        CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + places[place]);
        CU_ASSERT_EQUAL(executor_instructions(rig.executor), before + number);
        CU_ASSERT_EQUAL(rig.thread->turn, turn ? 0 : TURN - number);
        CU_ASSERT(rig.data[68] == rig.data[4] || number < 3);
    }
    exec_rig_end(&rig);
}

/* Instructions that fault or are refused are not counted; if limit and turn end together, the limit
 * is reported. */
static void test_count_and_fault(void)
{
    static const uint8_t code[] = {0x90, 0x8b, 0x03, 0x90,       /* nop; mov eax, [rbx]; nop */
                                   0xf3, 0x48, 0x0f, 0xae, 0xd1, /* wrfsbase rcx */
                                   0x90, 0x90, INT3};
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    begin_at(&rig, code, sizeof code);
    count_limits(&rig);
    executor_limit(rig.executor, 5);
    rig.thread->turn = 5;
    rig.thread->registers[DECODE_RCX] = (uint64_t)1 << 62;
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_FAULT);
    CU_ASSERT(executor_instructions(rig.executor) == 1 && rig.thread->turn == 4);
    rig.thread->registers[DECODE_RBX] = EXEC_RIG_DATA;
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_FAULT);
    CU_ASSERT(executor_instructions(rig.executor) == 3 && rig.thread->turn == 2);
    rig.thread->registers[DECODE_RCX] = EXEC_RIG_DATA;
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_LIMIT);
    CU_ASSERT(executor_instructions(rig.executor) == 5 && rig.thread->turn == 0);
    executor_limit(rig.executor, 6);
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TURN);
    rig.thread->turn = 1;
    CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + sizeof code - 1);
    exec_rig_end(&rig);
}

/* Accesses relative to the program's fs, and their addresses in the trace. */
static void test_fs(void)
{
    static const uint8_t code[] = {0xb8, 0x00, 0x10, 0x00, 0x30, /* mov eax, DATA + 0x1000 */
                                   0xf3, 0x48, 0x0f, 0xae, 0xd0, /* wrfsbase rax */
                                   0x64, 0x48, 0x8b, 0x1c, 0x25,
                                   0x28, 0,    0,    0,          /* mov rbx, fs:[0x28] */
                                   0xb9, 0x10, 0,    0,    0,    /* mov ecx, 16 */
                                   0x64, 0x48, 0x89, 0x1c, 0xc9, /* mov fs:[rcx + rcx * 8], rbx */
                                   0xf3, 0x48, 0x0f, 0xae, 0xc2, /* rdfsbase rdx */
                                   INT3};
    struct exec_rig rig;
    uint64_t value = 0x123456789abcdef0u, stored;
    for (int by_system = 0; by_system < 2; by_system++) {
        CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
        rig.thread->fs_by_system |= by_system;
        memcpy(rig.data + 0x1028, &value, sizeof value);
        begin_at(&rig, code, sizeof code);
        struct executor_stop stop = exec_rig_run(&rig);
        CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
        CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RBX], value);
        CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RDX], EXEC_RIG_DATA + 0x1000);
        CU_ASSERT_EQUAL(rig.thread->fs_base, EXEC_RIG_DATA + 0x1000);
        memcpy(&stored, rig.data + 0x1000 + 16 * 9, sizeof stored);
        CU_ASSERT_EQUAL(stored, value);
        CU_ASSERT_EQUAL_FATAL(rig.count, 8);
        CU_ASSERT_EQUAL(rig.records[3].address, EXEC_RIG_DATA + 0x1028);
        CU_ASSERT_EQUAL(rig.records[6].address, EXEC_RIG_DATA + 0x1000 + 16 * 9);
        exec_rig_end(&rig);
    }
}

/* Branches with a range of 128 bytes, and those with odd prefixes. */
static void test_counted(void)
{
    static const uint8_t code[] = {0xb9, 0x05, 0,    0,    0,    /* mov ecx, 5 */
                                   0xff, 0xc0,                   /* inc eax */
                                   0xe2, 0xfc,                   /* loop to inc */
                                   0xe3, 0x01,                   /* jrcxz over int3 */
                                   INT3, 0x67, 0xe3, 0x01,       /* jecxz over int3 */
                                   INT3, 0x2e, 0x75, 0x03,       /* jne with a hint */
                                   0x0f, 0x0b, 0x90,             /* ud2; nop */
                                   0x0f, 0x85, 0x01, 0,    0, 0, /* jne */
                                   INT3, 0x31, 0xdb, INT3};      /* xor ebx, ebx */
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    begin_at(&rig, code, sizeof code);
    struct executor_stop stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RAX], 5);
    CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + sizeof code - 1);
    CU_ASSERT_EQUAL(rig.count, 1 + 5 * 2 + 5);
    exec_rig_end(&rig);
}

/* A system call is not executed, but handed to the caller, with the registers that it changes. */
static void test_system_call(void)
{
    static const uint8_t code[] = {0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x89, 0xc3, INT3};
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    begin_at(&rig, code, sizeof code);
    struct executor_stop stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_SYSTEM_CALL);
    CU_ASSERT_EQUAL(rig.count, 2);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RAX], 39);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RCX], EXEC_RIG_CODE + 7);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_R11], rig.thread->flags);
    rig.thread->registers[DECODE_RAX] = 4711;
    stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RBX], 4711);
    CU_ASSERT_EQUAL(rig.count, 1);
    exec_rig_end(&rig);
}

/* In the middle of a block: registers, rip and trace are those before the instruction. */
static void test_fault(void)
{
    static const uint8_t code[] = {0x41, 0xbf, 7,    0,    0,    0, /* mov r15d, 7 */
                                   0x41, 0xbe, 8,    0,    0,    0, /* mov r14d, 8 */
                                   0xeb, 0x00,                      /* jmp */
                                   0x89, 0x04, 0x25, 0x10, 0x00, 0x00,
                                   0x30,                   /* mov [DATA+16], eax */
                                   0xff, 0xc1,             /* inc ecx */
                                   0x48, 0x8b, 0x59, 0x03, /* mov rbx, [rcx+3] */
                                   0xff, 0xc1, INT3};
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    begin_at(&rig, code, sizeof code);
    struct executor_stop stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_FAULT);
    CU_ASSERT_EQUAL(stop.signal, SIGSEGV);
    CU_ASSERT_EQUAL(stop.fault_address, 4);
    CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + 23);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_R15], 7);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_R14], 8);
    CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RCX], 1);
    CU_ASSERT_EQUAL(rig.count, 3 + 2 + 1);
    /* continues when the cause is removed */
    rig.thread->registers[DECODE_RCX] = EXEC_RIG_DATA;
    stop = exec_rig_run(&rig);
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig.count, 3);
    /* not executed: the target of a jump */
    rig.thread->rip = 0x1000;
    stop = exec_rig_run(&rig);
    CU_ASSERT(stop.reason == EXECUTOR_FAULT && stop.fault_address == 0x1000);
    exec_rig_end(&rig);
}

/* Changed code takes effect when it is invalidated, in links and tables too. */
static void test_invalidate(void)
{
    static const uint8_t code[] = {0x31, 0xc0,                    /* xor eax, eax */
                                   0xb9, 0x03, 0,    0,    0,     /* mov ecx, 3 */
                                   0xe8, 0x05, 0,    0,    0,     /* call */
                                   0xff, 0xc9, 0x75, 0xf7,        /* dec ecx; jnz call */
                                   INT3, 0x83, 0xc0, 0x01, 0xc3}; /* add eax, 1; ret */
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    for (uint8_t by = 1; by < 20; by++) {
        begin_at(&rig, code, sizeof code);
        rig.code[19] = by;
        executor_invalidate(rig.executor, EXEC_RIG_CODE + 19, EXEC_RIG_CODE + 20);
        struct executor_stop stop = exec_rig_run(&rig);
        CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
        CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RAX], 3u * by);
    }
    exec_rig_end(&rig);
}

/* The base of gs is 0. */
static void test_gs(void)
{
    static const uint8_t code[] = {0x65, 0x8b, 0x18,              /* mov ebx, gs:[rax] */
                                   0xf3, 0x48, 0x0f, 0xae, 0xc9,  /* rdgsbase rcx */
                                   0xf3, 0x48, 0x0f, 0xae, 0xda}; /* wrgsbase rdx */
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    for (unsigned base = 0; base < 2; base++) {
        begin_at(&rig, code, sizeof code);
        rig.code[sizeof code] = INT3;
        rig.data[1024] = 77;
        rig.thread->registers[DECODE_RAX] = EXEC_RIG_DATA + 1024;
        rig.thread->registers[DECODE_RCX] = 5;
        rig.thread->registers[DECODE_RDX] = base;
        struct executor_stop stop = exec_rig_run(&rig);
        CU_ASSERT_EQUAL(stop.reason, base ? EXECUTOR_REFUSED : EXECUTOR_TRAP);
        CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + (base ? 8 : sizeof code));
        CU_ASSERT(rig.thread->registers[DECODE_RBX] == 77);
        CU_ASSERT(rig.thread->registers[DECODE_RCX] == 0);
        CU_ASSERT_EQUAL(rig.count, base ? 3 : 4);
        CU_ASSERT(rig.records[1].type == REQUEST_MEMREAD && rig.records[1].size == 4 &&
                  rig.records[1].address == EXEC_RIG_DATA + 1024);
        executor_invalidate(rig.executor, EXEC_RIG_CODE, END);
    }
    exec_rig_end(&rig);
}

/* Branches to impossible addresses are neither executed nor recorded. */
static void test_nowhere(void)
{
    static const uint8_t codes[][4] = {
        {0xff, 0xc3, 0xff, 0xe0}, {0xff, 0xc3, 0xff, 0xd0}, {0xff, 0xc3, 0x50, 0xc3}};
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        begin_at(&rig, codes[i], sizeof codes[i]);
        rig.thread->registers[DECODE_RAX] = (uint64_t)1 << 62;
        rig.thread->registers[DECODE_RSP] = EXEC_RIG_DATA + 1024;
        struct executor_stop stop = exec_rig_run(&rig);
        unsigned pushed = i == 2 ? 8 : 0;
        CU_ASSERT(stop.reason == EXECUTOR_FAULT && stop.signal == SIGSEGV);
        CU_ASSERT(stop.code == SI_KERNEL && stop.fault_address == 0 && stop.trap == 13);
        CU_ASSERT_EQUAL(rig.thread->rip, EXEC_RIG_CODE + (pushed ? 3 : 2));
        CU_ASSERT_EQUAL(rig.thread->registers[DECODE_RSP], EXEC_RIG_DATA + 1024 - pushed);
        CU_ASSERT_EQUAL(rig.count, pushed ? 3 : 1);
        executor_invalidate(rig.executor, EXEC_RIG_CODE, END);
    }
    exec_rig_end(&rig);
}

/* Unsupported instructions are reported, without any effect. */
static void test_refused(void)
{
    static const uint8_t interrupt[] = {0xff, 0xc0, 0xcd, 0x80};
    static const uint8_t transaction[] = {0xc7, 0xf8, 0x01, 0, 0, 0, INT3, 0xff, 0xc3, INT3};
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    begin_at(&rig, interrupt, sizeof interrupt);
    struct executor_stop stop = exec_rig_run(&rig);
    CU_ASSERT(stop.reason == EXECUTOR_REFUSED && rig.thread->rip == EXEC_RIG_CODE + 2);
    CU_ASSERT_EQUAL(rig.count, 1);
    executor_invalidate(rig.executor, EXEC_RIG_CODE, END);
    begin_at(&rig, transaction, sizeof transaction);
    rig.thread->registers[DECODE_RAX] = 99;
    stop = exec_rig_run(&rig);
    CU_ASSERT(stop.reason == EXECUTOR_TRAP && rig.thread->rip == EXEC_RIG_CODE + 9);
    CU_ASSERT(rig.thread->registers[DECODE_RAX] == 0 && rig.thread->registers[DECODE_RBX] == 1);
    exec_rig_end(&rig);
}

/* An instruction to be emulated has changed without notice. */
static void test_another(void)
{
    static const uint8_t code[] = {0xff, 0xc3, 0xf3, 0x48, 0x0f, 0xae, 0xd0}; /* wrfsbase rax */
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_ALL, false, 0, 0));
    for (unsigned from = 0; from <= 2; from += 2) { /* also in a block of its own */
        begin_at(&rig, code, sizeof code);
        rig.code[sizeof code] = INT3;
        rig.thread->rip += from;
        CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TRAP);
        memset(rig.code + 2, 0x90, sizeof code - 2);
        rig.thread->rip = EXEC_RIG_CODE + from;
        struct executor_stop stop = exec_rig_run(&rig);
        CU_ASSERT(stop.reason == EXECUTOR_INTERRUPTED && rig.thread->rip == EXEC_RIG_CODE + 2);
        CU_ASSERT_EQUAL(rig.total, from ? 0 : 1);
        stop = exec_rig_run(&rig);
        CU_ASSERT(stop.reason == EXECUTOR_TRAP && rig.thread->rip == EXEC_RIG_CODE + sizeof code);
        CU_ASSERT_EQUAL(rig.total, sizeof code - 2);
        executor_invalidate(rig.executor, EXEC_RIG_CODE, END);
    }
    exec_rig_end(&rig);
}

/* Components in their initial state remain so, whatever their bytes in the area. The processor may
 * count them as in use after an interrupt, hence the loop. */
static void test_initial_vector(void)
{
    static const uint8_t code[] = {0xff, 0xc9, 0x75, 0xfc, INT3}; /* dec ecx; jnz */
    static struct machine before, after;
    uint64_t random = random_seed(1);
    struct exec_rig rig;
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_NONE, false, 0, 0));
    begin_at(&rig, code, sizeof code);
    for (unsigned i = 0; i < 4000; i++) {
        random_machine(&before, &random);
        uint64_t present = machine_components() & random_next(&random);
        memcpy(before.vector + 512, &present, sizeof present);
        before.rip = EXEC_RIG_CODE;
        before.registers[DECODE_RCX] = 20000;
        exec_rig_load(&rig, &before);
        CU_ASSERT_EQUAL(exec_rig_run(&rig).reason, EXECUTOR_TRAP);
        exec_rig_save(&rig, &after);
        before.registers[DECODE_RCX] = 0;
        before.rip = after.rip;
        before.flags = after.flags;
        CU_ASSERT_PTR_NULL(machine_difference(&before, &after));
    }
    exec_rig_end(&rig);
}

static const struct test_case cases[] = {{"interrupted", test_interrupted},
                                         {"programs as single-stepped", test_samples},
                                         {"limits", test_limit},
                                         {"a limit in a loop", test_limit_in_loop},
                                         {"limits that are counted down", test_counted_limits},
                                         {"where a count ends", test_count_ends},
                                         {"counts and faults", test_count_and_fault},
                                         {"fs", test_fs},
                                         {"initial vector state", test_initial_vector},
                                         {"counted branches", test_counted},
                                         {"system calls", test_system_call},
                                         {"faults", test_fault},
                                         {"changed code", test_invalidate},
                                         {"gs", test_gs},
                                         {"branches to nowhere", test_nowhere},
                                         {"refused", test_refused},
                                         {"another instruction by then", test_another},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_run, cases)
