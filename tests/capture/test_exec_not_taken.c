#define _GNU_SOURCE /* mkdtemp */
/* What is not taken changes nothing but registers, and those as if it were taken. */
#include "tests/suites.h"
#include "tests/support/aria_ground.h"
#include "tests/support/exec_child.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELL  64u /* bytes of code for an instruction */
#define CELLS 64u /* on a page */

static const struct region region = {ARIA_GROUND_DATA, ARIA_GROUND_DATA_BYTES};

struct random_run {
    const char *program;
    unsigned count;
    unsigned *failed, *ran;
};

static void print_instruction(const struct random_instruction *made, const char *what)
{
    for (unsigned i = 0; i < made->instruction.length; i++)
        dprintf(2, "%02x", made->bytes[i]);
    dprintf(2, " %s: %s\n", ZydisMnemonicGetString(made->instruction.mnemonic), what);
}

/* Both versions with the same registers and memory. NULL, or what is different. */
static const char *try_both(const struct aria_ground *ground, struct aria_state *state,
                            const struct machine *before, const uint8_t *memory, unsigned *ran)
{
    static uint8_t found[ARIA_GROUND_DATA_BYTES];
    static struct record records[8192];
    static struct machine not_taken, taken;
    struct aria_step step, real;
    struct bt_error error;
    aria_write(ground->aria, ARIA_GROUND_DATA, memory, sizeof found);
    aria_ground_load(ground, state, before);
    if (aria_execute(ground->aria, state, ARIA_NOT_TAKEN, 1, &step, &error) != 0)
        return "not taken: failed";
    aria_ground_save(state, &not_taken);
    if (step.record_count > sizeof records / sizeof *records)
        return "too many records";
    memcpy(records, step.records, step.record_count * sizeof *records);
    if (aria_read(ground->aria, found, ARIA_GROUND_DATA, sizeof found) != 0 ||
        memcmp(found, memory, sizeof found) != 0)
        return "memory";
    aria_ground_load(ground, state, before);
    if (aria_execute(ground->aria, state, ARIA_TAKEN, 1, &real, &error) != 0)
        return "taken: failed";
    aria_ground_save(state, &taken);
    if (step.reason == ARIA_SIGNAL)
        return real.reason == ARIA_SIGNAL && real.signal == step.signal &&
                       not_taken.rip == before->rip && step.record_count == 0
                   ? NULL
                   : "a signal";
    if (step.reason != ARIA_LIMIT || step.instructions != 1)
        return "its end";
    if (real.reason != ARIA_LIMIT)
        return NULL; /* a fault that is guarded */
    ++*ran;
    if (step.record_count != real.record_count ||
        memcmp(records, real.records, step.record_count * sizeof *records) != 0)
        return "records";
    return machine_difference(&taken, &not_taken);
}

/* Random valid instructions whose operands are in memory: both versions do the same. */
static void run_random(void *context)
{
    static struct random_instruction made[CELLS];
    static struct machine before[CELLS];
    static uint8_t code[CELL * CELLS], memory[ARIA_GROUND_DATA_BYTES];
    struct random_run *run = context;
    struct aria_ground ground;
    struct bt_error error;
    uint64_t random = random_seed(run->count);
    aria_ground_begin(&ground, run->program);
    struct aria_state *state = aria_state_copy(ground.aria, ground.state, &error);
    for (unsigned page = 0; page < run->count / CELLS && *run->failed < 20; page++) {
        uint64_t address = ARIA_GROUND_CODE + page * sizeof code;
        memset(code, 0x90, sizeof code);
        for (unsigned i = 0; i < CELLS; i++) {
            do {
                random_instruction_make(&made[i], &random, address + i * CELL, &region);
                random_machine(&before[i], &random);
                before[i].rip = address + i * CELL;
            } while (!random_instruction_place(&made[i], &before[i], &random, &region));
            memcpy(code + i * CELL, made[i].bytes, made[i].instruction.length);
        }
        aria_write(ground.aria, address, code, sizeof code);
        for (unsigned i = 0; i < CELLS; i++) {
            random_fill(&random, memory + sizeof memory / 4, sizeof memory / 2);
            const char *what = try_both(&ground, state, &before[i], memory, run->ran);
            if (what)
                print_instruction(&made[i], what);
            *run->failed += what != NULL;
        }
    }
    aria_state_free(state);
    aria_ground_end(&ground);
}

static void test_random(void)
{
    static struct exec_child child;
    char folder[] = "/tmp/bustap_ground_XXXXXX", program[64];
    const char *count = getenv("EXEC_SEEDS");
    unsigned *results = exec_child_share(2 * sizeof *results);
    struct random_run run = {program, count ? (unsigned)atoi(count) : 12800, results, results + 1};
    if (!EXEC_CHILD_LOW_MEMORY || !results || !mkdtemp(folder))
        return;
    snprintf(program, sizeof program, "%s/ground", folder);
    CU_ASSERT_FATAL(exec_child_compile(program, "tests/capture/programs/ground.c", "-O1"));
    exec_child_run(&child, run_random, &run);
    CU_ASSERT_EQUAL(child.status, 0);
    CU_ASSERT_EQUAL(*run.failed, 0);
    CU_ASSERT(*run.ran > run.count / 2);
    unlink(program);
    rmdir(folder);
}

static const struct test_case cases[] = {{"random instructions", test_random}, {NULL, NULL}};
TEST_SUITE(exec_not_taken, cases)
