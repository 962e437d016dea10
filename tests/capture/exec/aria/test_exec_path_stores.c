/*
 * Paths that are not taken, with a store buffer, against a slow twin: the same paths in a forked
 * copy of the process, where stores really happen.
 */
#include "tests/suites.h"
#include "tests/support/aria_ground.h"
#include "tests/support/exec_child.h"
#include "tests/support/random.h"
#include "tests/support/work_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS        16u    /* per path */
#define RECORDS      20000u /* per step, maximum for a comparison */
#define INSTRUCTIONS 100u   /* per step */

/* Shared with all children. */
struct counts {
    unsigned paths, steps, failed;
    uint64_t own_reads;
};

struct path_run {
    const char *const *arguments;
    unsigned paths;
    struct counts *counts;
};

/* The result of a step of a path. */
struct step_done {
    uint64_t rip; /* at its start */
    uint64_t instructions;
    struct machine after;
    struct record *records;
    size_t record_count;
};

_Noreturn static void give_up(const char *what)
{
    dprintf(2, "%s\n", what);
    _exit(99);
}

static struct aria_state *copy_of(struct aria *aria, const struct aria_state *state)
{
    struct bt_error error = {.message = ""};
    struct aria_state *copy = aria_state_copy(aria, state, &error);
    if (!copy)
        give_up(error.message);
    return copy;
}

/* The results of rdtsc, rdtscp, cpuid, rdrand, rdseed, rdpid and xgetbv differ each time, or depend
 * on more than memory and registers; that of xsave depends on the components that the processor
 * considers modified. */
static bool is_steady(struct aria *aria, const struct aria_step *step)
{
    for (size_t i = 0; i < step->record_count; i++) {
        uint8_t bytes[15] = {0};
        const struct record *record = &step->records[i];
        if (record->type != REQUEST_FETCH)
            continue;
        aria_read(aria, bytes, record->address, record->size < 15 ? record->size : 15);
        const uint8_t *opcode = memchr(bytes, 0x0f, 4);
        if (opcode && (opcode[1] == 0x31 || opcode[1] == 0xa2 || opcode[1] == 0xc7 ||
                       opcode[1] == 0x01 || opcode[1] == 0xae))
            return false;
    }
    return true;
}

/* Executes a step that is not taken. False if it cannot be compared; the path ends before it. */
static bool go_astray(struct aria *aria, struct aria_state *state, struct step_done *done,
                      uint64_t *random, struct counts *counts)
{
    const uint64_t limit = 1 + random_below(random, INSTRUCTIONS);
    struct bt_error error = {.message = ""};
    struct aria_step step;
    done->rip = state->rip;
    if (aria_execute(aria, state, ARIA_NOT_TAKEN, limit, &step, &error) != 0)
        give_up(error.message);
    done->instructions = step.instructions;
    if (step.instructions == 0 || step.record_count > RECORDS || !is_steady(aria, &step) ||
        (step.reason == ARIA_LIMIT && step.instructions != limit))
        return false;
    done->record_count = step.record_count;
    done->records = malloc(step.record_count * sizeof *done->records);
    memcpy(done->records, step.records, step.record_count * sizeof *done->records);
    aria_ground_save(state, &done->after);
    counts->own_reads += step.own_reads;
    if (step.reason == ARIA_BRANCH && step.branch == ARIA_CONDITIONAL && random_one_in(random, 2))
        state->rip = step.taken ? step.next : step.target; /* mispredicted again */
    return step.reason != ARIA_SIGNAL && step.reason != ARIA_SYSTEM_CALL;
}

/* Executes the same step with real stores. Returns the difference, or NULL; *faulted: the step
 * cannot be executed. */
static const char *execute_really(struct aria *aria, struct aria_state *state,
                                  const struct step_done *done, bool *faulted)
{
    static struct machine after;
    struct bt_error error = {.message = ""};
    struct aria_step step;
    state->rip = done->rip;
    if (aria_execute(aria, state, ARIA_TAKEN, done->instructions, &step, &error) != 0)
        return error.message[0] ? "failed" : "failed without a word";
    *faulted = step.reason == ARIA_SIGNAL || step.reason == ARIA_EXIT;
    if (*faulted)
        return NULL;
    if (step.instructions != done->instructions)
        return "instructions";
    if (step.record_count != done->record_count ||
        memcmp(step.records, done->records, step.record_count * sizeof *step.records) != 0)
        return "records";
    aria_ground_save(state, &after);
    return machine_difference(&after, &done->after);
}

/* Runs in a child, which may die. */
static void follow(struct aria *aria, const struct aria_state *begin, uint64_t rip, uint64_t random,
                   struct counts *counts)
{
    static struct step_done done[STEPS];
    struct aria_state *path = copy_of(aria, begin), *real = copy_of(aria, begin);
    unsigned count = 0;
    bool goes_on = true, faulted = false;
    path->rip = rip;
    while (goes_on && count < STEPS) {
        goes_on = go_astray(aria, path, &done[count], &random, counts);
        count += done[count].records != NULL;
    }
    counts->paths++;
    for (unsigned i = 0; i < count && !faulted; i++) {
        const char *what = execute_really(aria, real, &done[i], &faulted);
        counts->steps += !faulted;
        if (!what)
            continue;
        if (++counts->failed < 10)
            dprintf(2, "%u of %u steps from %llx on: %s\n", i, count,
                    (unsigned long long)done[i].rip, what);
        break;
    }
    _exit(0);
}

static void run_paths(void *context)
{
    static const char *const environment[] = {"LC_ALL=C", "LD_BIND_NOW=1", NULL};
    const struct path_run *run = context;
    const struct aria_settings settings = {.stack = {.environment = environment},
                                           .store_buffer = true};
    struct bt_error error = {.message = ""};
    struct aria_step step = {.reason = ARIA_LIMIT};
    uint64_t random = random_seed(run->paths);
    struct aria *aria = aria_new(run->arguments[0], run->arguments, &settings, &error);
    struct aria_state *state = aria ? aria_initial(aria, &error) : NULL;
    if (!state)
        give_up(error.message);
    for (unsigned i = 0; i < run->paths && step.reason != ARIA_EXIT; i++) {
        const uint64_t least = random_below(&random, 1500);
        for (uint64_t steps = 0; steps == 0 || (step.reason != ARIA_EXIT &&
                                                (steps < least || step.reason != ARIA_BRANCH ||
                                                 step.branch != ARIA_CONDITIONAL));
             steps++)
            if (aria_execute(aria, state, ARIA_TAKEN, 0, &step, &error) != 0)
                give_up(error.message);
        if (step.reason == ARIA_EXIT)
            break;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            follow(aria, state, step.taken ? step.next : step.target, random, run->counts);
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child)
            give_up("no process for a path");
        if (status != 0 && ++run->counts->failed < 10)
            dprintf(2, "a path's process ended with wait status %x\n", (unsigned)status);
        random_next(&random);
    }
    _exit(0);
}

static void test_paths(void)
{
    static const char *const programs[][5] = {{"/bin/ls", "-ln", "listed", NULL},
                                              {"/bin/gzip", "-6", "-c", "text", NULL},
                                              {"/usr/bin/sort", "-n", "text", NULL}};
    static struct exec_child child;
    const char *count = getenv("EXEC_SEEDS");
    struct work_folder folder;
    work_folder_enter(&folder);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct counts *counts = exec_child_share(sizeof *counts);
        if (!EXEC_CHILD_LOW_MEMORY || access(programs[i][0], X_OK) != 0 || !counts)
            continue;
        struct path_run run = {programs[i], count ? (unsigned)atoi(count) : 300, counts};
        exec_child_run(&child, run_paths, &run);
        CU_ASSERT_EQUAL(child.status, 0);
        CU_ASSERT_EQUAL(counts->failed, 0);
        CU_ASSERT(counts->paths > 50);
        CU_ASSERT(counts->steps > 2 * counts->paths);
        CU_ASSERT(counts->own_reads > counts->paths);
        if (getenv("VERBOSE"))
            printf("%s: %u paths, %u steps, %llu own reads\n", programs[i][0], counts->paths,
                   counts->steps, (unsigned long long)counts->own_reads);
    }
    work_folder_leave(&folder);
}

static const struct test_case cases[] = {{"as with real stores", test_paths}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_path_stores, cases)
