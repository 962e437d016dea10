#define _GNU_SOURCE /* SA_ONSTACK */
#include "capture/exec/dispatch/trampoline.h"
#include "tests/suites.h"
#include "tests/support/exec_rig.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

/*
 * Three functions whose addresses share their low 16 bits, so that they have the same first place
 * in the tables of targets. The program calls them in turn. Each returns to a place of its own.
 */
#define INT3      0xccu
#define STACK     (EXEC_RIG_DATA + EXEC_RIG_DATA_BYTES - 256)
#define FUNCTIONS 3u
#define CALLS     30000u
#define ONE       0x400u /* offset of code that calls one function, in ebx */

static uint64_t function_at(unsigned number)
{
    return EXEC_RIG_CODE + (number + 1) * 0x10000u + 0x100;
}

static void begin(struct exec_rig *rig, enum exec_trace trace)
{
    static const uint8_t code[] = {0xbb, 0x00, 0x01, 0x01, 0x20,       /* mov ebx, the first */
                                   0xbd, 0x00, 0x01, 0x02, 0x20,       /* mov ebp, the second */
                                   0xbe, 0x00, 0x01, 0x03, 0x20,       /* mov esi, the third */
                                   0xb9, 0x30, 0x75, 0x00, 0x00,       /* mov ecx, CALLS */
                                   0xf9, 0xff, 0xd3, 0xf9, 0xff, 0xd5, /* stc; call rbx; ... */
                                   0xf9, 0xff, 0xd6, 0xff, 0xc9,       /* dec ecx */
                                   0x75, 0xf3, INT3};                  /* jnz to the first stc */
    static const uint8_t functions[FUNCTIONS][8] = {
        {0x83, 0xd0, 0x00, 0xc3},                          /* adc eax, 0 */
        {0x49, 0x83, 0xd6, 0x00, 0xc3},                    /* adc r14, 0 */
        {0x49, 0x83, 0xd7, 0x00, 0xc3}};                   /* adc r15, 0 */
    static const uint8_t one[] = {0xf9, 0xff, 0xd3, INT3}; /* stc; call rbx */
    CU_ASSERT_FATAL(exec_rig_begin(rig, trace, false, 0, 0));
    memcpy(rig->code, code, sizeof code);
    memcpy(rig->code + ONE, one, sizeof one);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        memcpy(rig->code + (function_at(i) - EXEC_RIG_CODE), functions[i], sizeof functions[i]);
}

static void run_from(struct exec_rig *rig, uint64_t address, uint64_t rbx)
{
    memset(rig->thread->registers, 0, sizeof rig->thread->registers);
    rig->thread->registers[DECODE_RBX] = rbx;
    rig->thread->registers[DECODE_RSP] = STACK;
    rig->thread->flags = 0x202;
    rig->thread->rip = address;
    struct executor_stop stop;
    while ((stop = exec_rig_run(rig)).reason == EXECUTOR_INTERRUPTED)
        rig->thread->interrupt = 0;
    CU_ASSERT_EQUAL(stop.reason, EXECUTOR_TRAP);
    CU_ASSERT_EQUAL(rig->thread->registers[DECODE_RSP], STACK);
}

static void check_sums(const struct exec_rig *rig, uint64_t rax, uint64_t r14, uint64_t r15)
{
    CU_ASSERT_EQUAL(rig->thread->registers[DECODE_RAX], rax);
    CU_ASSERT_EQUAL(rig->thread->registers[DECODE_R14], r14);
    CU_ASSERT_EQUAL(rig->thread->registers[DECODE_R15], r15);
}

/* Which function has the first place; FUNCTIONS: none. */
static unsigned first_at(const struct exec_rig *rig)
{
    const struct exec_thread *thread = rig->thread;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const uint64_t target = function_at(i);
        const uint16_t place = EXEC_LOOKUP_FIRST(target);
        const struct block *block = code_cache_find(executor_cache(rig->executor), target);
        if (block && block->indirect &&
            (thread->targets[0][place] == (uint64_t)(uintptr_t)block->indirect ||
             thread->lookup[place].minus_target == -target))
            return i;
    }
    return FUNCTIONS;
}

static const enum exec_trace traces[] = {EXEC_TRACE_NONE, EXEC_TRACE_COUNT, EXEC_TRACE_ALL};

/* Called in turn and interrupted: flags and registers are unchanged on each way to a function. */
static void test_alike(void)
{
    const struct itimerval every = {{0, 37}, {0, 37}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    action.sa_sigaction = (void (*)(int, siginfo_t *, void *))exec_signal_entry;
    sigfillset(&action.sa_mask);
    for (unsigned i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct exec_rig rig;
        begin(&rig, traces[i]);
        run_from(&rig, EXEC_RIG_CODE, 0);
        check_sums(&rig, CALLS, CALLS, CALLS);
        sigaction(SIGALRM, &action, &before);
        setitimer(ITIMER_REAL, &every, NULL);
        run_from(&rig, EXEC_RIG_CODE, 0);
        setitimer(ITIMER_REAL, &never, NULL);
        sigaction(SIGALRM, &before, NULL);
        check_sums(&rig, CALLS, CALLS, CALLS);
        exec_rig_end(&rig);
    }
}

/* The function that was called last has the first place, and the others have their second ones. */
static void test_last(void)
{
    for (unsigned i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct exec_rig rig;
        begin(&rig, traces[i]);
        run_from(&rig, EXEC_RIG_CODE, 0);
        CU_ASSERT_EQUAL(first_at(&rig), FUNCTIONS - 1);
        for (unsigned j = 0; j < FUNCTIONS; j++) {
            const uint64_t target = function_at(j);
            CU_ASSERT_EQUAL(rig.thread->lookup[EXEC_LOOKUP_SECOND(target)].minus_target, -target);
            run_from(&rig, EXEC_RIG_CODE + ONE, target);
            CU_ASSERT_EQUAL(first_at(&rig), j);
            check_sums(&rig, j == 0, j == 1, j == 2);
        }
        exec_rig_end(&rig);
    }
}

/* Changed code is executed: no place has the discarded block, whether the function had the first
 * place since it was translated, since it was called again, or not at all. */
static void test_discarded(void)
{
    static const uint8_t changed[] = {0x48, 0x8d, 0x40, 0x07, 0xc3}; /* lea rax, [rax + 7] */
    for (unsigned i = 0; i < sizeof traces / sizeof *traces; i++)
        for (unsigned last = 0; last < FUNCTIONS; last++)
            for (unsigned j = 0; j < FUNCTIONS; j++) {
                const uint64_t target = function_at(j);
                struct exec_rig rig;
                begin(&rig, traces[i]);
                run_from(&rig, EXEC_RIG_CODE, 0);
                run_from(&rig, EXEC_RIG_CODE + ONE, function_at(last));
                memcpy(rig.code + (target - EXEC_RIG_CODE), changed, sizeof changed);
                executor_invalidate(rig.executor, target, target + sizeof changed);
                CU_ASSERT_EQUAL(first_at(&rig), FUNCTIONS);
                run_from(&rig, EXEC_RIG_CODE + ONE, target);
                check_sums(&rig, 7, 0, 0);
                run_from(&rig, EXEC_RIG_CODE, 0);
                check_sums(&rig, j == 0 ? 7 * CALLS : CALLS + 7 * CALLS, j == 1 ? 0 : CALLS,
                           j == 2 ? 0 : CALLS);
                exec_rig_end(&rig);
            }
}

static const struct test_case cases[] = {{"targets that end alike", test_alike},
                                         {"the last target is first", test_last},
                                         {"discarded targets", test_discarded},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_indirect, cases)
