#define _GNU_SOURCE /* siginfo_t */
/* Programs executed branch by branch under a control program: compared with free and native
 * execution. */
#include "capture/exec/aria/aria.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"
#include "tests/support/work_folder.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};
static const uint8_t random_bytes[INITIAL_STACK_RANDOM_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};

/* Number of records and instructions, and a hash that depends on their order. */
struct sum {
    uint64_t records, instructions, hash;
};

static void add_records(struct sum *sum, const struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        uint64_t word = record->address | (uint64_t)record->type << 32 |
                        (uint64_t)record->size << 40 | (uint64_t)record->processor << 48 |
                        (uint64_t)record->time << 56;
        sum->hash = (sum->hash ^ word) * 0x9e3779b97f4a7c15u;
        sum->hash ^= sum->hash >> 29;
        sum->instructions += record->time;
    }
    sum->records += count;
}

static int take(void *context, struct record *records, size_t count)
{
    add_records(context, records, count);
    return 0;
}

/* How a program is executed. */
enum way {
    FREELY, /* process_run() */
    STEP_BY_STEP,
    BY_LIMITS, /* steps of 1, 2, 3 … instructions at most */
    COPIES,    /* a new state for each step */
    RUNNING,   /* aria_run(), with some steps between */
    WAYS,
    UNCHECKED,   /* step by step; a step that a signal ends has no branch at its end */
    UNEXPLAINED, /* the same; traps of single steps come without their cause */
};

struct program_run {
    const char *const *arguments;
    enum way way;
    struct sum *sum;
};

_Noreturn static void fail(const char *what, const struct bt_error *error)
{
    dprintf(2, "%s: %s\n", what, error->message);
    _exit(99);
}

static void run_freely(const struct program_run *run)
{
    static const struct process_operations operations = {.put = take};
    struct process_settings settings = {
        .trace = EXEC_TRACE_ALL,
        .stack = {.environment = environment, .random = random_bytes},
        .operations = &operations,
        .context = run->sum};
    struct bt_error error = {.message = ""};
    struct process_end end = {.ending = PROCESS_UNABLE};
    struct process *process = process_new(run->arguments[0], run->arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0)
        fail(run->arguments[0], &error);
    process_exit(&end);
}

/* A step ends with its branch, and its state is that after the branch. */
static void check_step(const struct aria_step *step, const struct aria_state *state, uint64_t limit)
{
    struct sum sum = {0};
    struct bt_error error = {.message = "not consistent"};
    uint64_t last = 0, end = 0;
    add_records(&sum, step->records, step->record_count);
    for (size_t i = 0; i < step->record_count; i++)
        if (step->records[i].type == REQUEST_FETCH) {
            last = step->records[i].address;
            end = last + step->records[i].size;
        }
    bool right = sum.instructions == step->instructions;
    if (limit && step->instructions > limit)
        right = false;
    if (step->reason == ARIA_LIMIT && step->instructions != limit)
        right = false;
    if (step->reason == ARIA_BRANCH)
        right = right && step->branch_address == last && step->next == end &&
                state->rip == (step->taken ? step->target : step->next) &&
                (step->taken || step->branch == ARIA_CONDITIONAL || step->target == step->next);
    if (!right)
        fail("a step", &error);
}

/* A handler for traps as where a hypervisor loses bit BS of DR6: si_code is TRAP_BRKPT. */
void exec_aria_unexplained(int number, siginfo_t *information, void *context);
__asm__("exec_aria_unexplained:\n"
        "    movl $1, 8(%rsi)\n"
        "    jmp exec_signal_entry\n");

static void take_causes_away(void)
{
    struct sigaction action;
    sigaction(SIGTRAP, NULL, &action);
    action.sa_sigaction = exec_aria_unexplained;
    sigaction(SIGTRAP, &action, NULL);
}

static void run_step_by_step(const struct program_run *run)
{
    struct aria_settings settings = {.stack = {.environment = environment, .random = random_bytes}};
    struct bt_error error = {.message = ""};
    struct aria_step step;
    struct aria *aria = aria_new(run->arguments[0], run->arguments, &settings, &error);
    struct aria_state *states[2] = {NULL, NULL};
    if (!aria || !(states[0] = aria_initial(aria, &error)) ||
        !(states[1] = aria_state_copy(aria, states[0], &error)))
        fail(run->arguments[0], &error);
    if (run->way == UNEXPLAINED)
        take_causes_away();
    unsigned which = 0;
    uint64_t count = 0;
    do {
        uint64_t limit = run->way == BY_LIMITS ? count % 7 + 1 : 0;
        if (run->way == COPIES) {
            aria_state_assign(aria, states[!which], states[which]);
            memset(states[which]->registers, 0xee, sizeof states[which]->registers);
            memset(states[which]->vector, 0xee, 512);
            which = !which;
        }
        int result = run->way == RUNNING && count % 1000 < 3
                         ? aria_run(aria, states[which], count + 1, take, run->sum, &step, &error)
                         : aria_execute(aria, states[which], ARIA_TAKEN, limit, &step, &error);
        if (result != 0)
            fail(run->arguments[0], &error);
        if (run->way < RUNNING)
            check_step(&step, states[which], limit);
        add_records(run->sum, step.records, step.record_count);
        count++;
    } while (step.reason != ARIA_EXIT);
    struct process_end end = step.end;
    aria_state_free(states[0]);
    aria_state_free(states[1]);
    aria_free(aria);
    process_exit(&end);
}

static void run(void *context)
{
    const struct program_run *run = context;
    if (run->way == FREELY)
        run_freely(run);
    else
        run_step_by_step(run);
}

static void compare(const char *const *arguments)
{
    static struct exec_child native, child;
    struct sum *sums = exec_child_share(WAYS * sizeof *sums);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sums);
    exec_child_native(&native, arguments, environment);
    for (unsigned way = 0; way < WAYS; way++) {
        struct program_run context = {arguments, (enum way)way, &sums[way]};
        exec_child_run(&child, run, &context);
        CU_ASSERT_EQUAL(child.status, native.status);
        CU_ASSERT_STRING_EQUAL(child.output, native.output);
        CU_ASSERT_EQUAL(sums[way].records, sums[0].records);
        CU_ASSERT_EQUAL(sums[way].instructions, sums[0].instructions);
        CU_ASSERT_EQUAL(sums[way].hash, sums[0].hash);
        if (sums[way].hash != sums[0].hash)
            printf("%s, way %u: %llu instructions, %llu records, instead of %llu, %llu\n",
                   arguments[0], way, (unsigned long long)sums[way].instructions,
                   (unsigned long long)sums[way].records, (unsigned long long)sums[0].instructions,
                   (unsigned long long)sums[0].records);
    }
    CU_ASSERT(sums[0].instructions > 1000);
}

static void test_programs(void)
{
    static const char *const programs[][5] = {{"/bin/true", NULL},
                                              {"/bin/echo", "hello", "world", NULL},
                                              {"/bin/ls", "listed", NULL},
                                              {"/bin/gzip", "-1", "-c", "text", NULL}};
    struct work_folder folder;
    work_folder_enter(&folder);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (EXEC_CHILD_LOW_MEMORY && access(programs[i][0], X_OK) == 0)
            compare(programs[i]);
    work_folder_leave(&folder);
}

/* Signals, faults and changed code occur in the middle of steps. */
static void compare_output(const char *program, const char *argument, enum way way)
{
    static struct exec_child native, child;
    struct sum *sum = exec_child_share(sizeof *sum);
    const char *const arguments[] = {program, argument, NULL};
    struct program_run context = {arguments, way, sum};
    CU_ASSERT_PTR_NOT_NULL_FATAL(sum);
    exec_child_native(&native, arguments, environment);
    exec_child_run(&child, run, &context);
    bool agree = child.status == native.status && strcmp(child.output, native.output) == 0;
    CU_ASSERT(agree);
    if (!agree)
        printf("%s %s: %x instead of %x\n%s\ninstead of\n%s\n", program, argument ? argument : "",
               (unsigned)child.status, (unsigned)native.status, child.output, native.output);
}

static void test_interrupted(void)
{
    static const char *const ours[][2] = {
        {"faults", NULL}, {"faults", "8"},     {"faults", "11"},          {"signals", NULL},
        {"sse", NULL},    {"modify", NULL},    {"changing", "1,200,0"},   {"changing", "3,100,300"},
        {"traps", NULL},  {"elsewhere", NULL}, {"changing", "4,200,0,1"}, {"threads", "abcdefghik"},
        {"threads", "A"}, {"threads", "B"},    {"threads", "C"},          {"threads", "D"},
        {"threads", "E"}, {"turns", NULL}};
    char folder[FOLDER_PATH_BYTES], program[FOLDER_PATH_BYTES + 16], source[128];
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    folder_make_for_programs(folder);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        snprintf(program, sizeof program, "%s/%s", folder, ours[i][0]);
        snprintf(source, sizeof source, "tests/capture/programs/%s.c", ours[i][0]);
        CU_ASSERT(exec_child_compile(program, source, "-O1 -pthread"));
        compare_output(program, ours[i][1], UNCHECKED);
        if (strcmp(ours[i][0], "changing") == 0)
            compare_output(program, ours[i][1], UNEXPLAINED);
    }
    folder_remove(folder);
}

static const struct test_case cases[] = {
    {"programs", test_programs}, {"interrupted", test_interrupted}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_aria, cases)
