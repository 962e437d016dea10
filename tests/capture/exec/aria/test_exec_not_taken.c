/* Code that is not taken changes nothing but registers, and those as if it were taken. */
#include "tests/suites.h"
#include "tests/support/aria_ground.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"
#include "tests/support/work_folder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELL  64u /* bytes of code per instruction */
#define CELLS 64u /* on a page */

static const struct region region = {.address = ARIA_GROUND_DATA, .size = ARIA_GROUND_DATA_BYTES};

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

/* Executes both versions with the same registers and memory; the one that is not taken stores into
 * a buffer. Returns the difference, or NULL. */
static const char *try_both(const struct aria_ground *ground, struct aria_state *state,
                            const struct machine *before, const uint8_t *memory, unsigned *ran)
{
    static uint8_t found[ARIA_GROUND_DATA_BYTES], seen[ARIA_GROUND_DATA_BYTES];
    static struct record records[8192];
    static struct machine not_taken, taken;
    struct aria_step step, real;
    struct bt_error error;
    aria_write(ground->aria, ARIA_GROUND_DATA, memory, sizeof found);
    aria_state_assign(ground->aria, state, ground->state);
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
    if (aria_read_as(ground->aria, state, seen, ARIA_GROUND_DATA, sizeof seen) != 0)
        return "the state";
    aria_ground_load(ground, state, before);
    if (aria_execute(ground->aria, state, ARIA_TAKEN, 1, &real, &error) != 0)
        return "taken: failed";
    aria_ground_save(state, &taken);
    if (step.reason == ARIA_SIGNAL)
        /* the memory guard rejects a misaligned operand first; taken, it raises another signal */
        return real.reason == ARIA_SIGNAL &&
                       (real.signal == step.signal || real.signal == SIGSEGV) &&
                       not_taken.rip == before->rip && step.record_count == 0
                   ? NULL
                   : "a signal";
    if (step.reason != ARIA_LIMIT || step.instructions != 1)
        return "its end";
    if (real.reason != ARIA_LIMIT)
        return NULL; /* a guarded fault */
    ++*ran;
    if (step.record_count != real.record_count ||
        memcmp(records, real.records, step.record_count * sizeof *records) != 0)
        return "records";
    if (aria_read(ground->aria, found, ARIA_GROUND_DATA, sizeof found) != 0 ||
        memcmp(found, seen, sizeof found) != 0)
        return "the stores";
    return machine_difference(&taken, &not_taken);
}

/* A component in its initial state may count as in use after an interrupt (Intel SDM, volume 1,
 * 13.6): xsavec and xsaveopt then write it, which another execution may not. */
static bool depends_on_chance(const struct random_instruction *made)
{
    switch (made->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
        return true;
    default:
        return false;
    }
}

/* Of all instructions, and of those that are too rare among all. */
static void make_one(struct random_instruction *made, uint64_t *random, uint64_t address)
{
    bool wide = __builtin_cpu_supports("avx512f"), vectors = __builtin_cpu_supports("avx2");
    uint64_t kind = random_below(random, 16);
    if (kind == 0 && vectors)
        random_instruction_make_gather(made, random, address, &region);
    else if (kind == 1 && wide)
        random_instruction_make_pack(made, random, address, &region);
    else if (kind == 2)
        random_instruction_make_xsave(made, random, address, &region);
    else
        random_instruction_make(made, random, address, &region);
}

/* Far branches within the segment: one instruction each, in 64, 32 and 16 bits if possible. */
static void run_far(void *context)
{
    static const struct {
        unsigned size; /* bytes on the stack */
        uint8_t bytes[4];
    } far_branches[] = {
        {8, {0x48, 0xcb}}, {8, {0x48, 0xca, 16, 0}}, {4, {0xcb}},      {8, {0x48, 0xcf}},
        {4, {0xcf}},       {4, {0xff, 0x2b}},        {4, {0xff, 0x1b}}};
    static struct machine before;
    static uint8_t memory[ARIA_GROUND_DATA_BYTES];
    struct random_run *run = context;
    struct aria_ground ground;
    struct bt_error error;
    uint64_t random = random_seed(1), stack = ARIA_GROUND_DATA + 4096;
    aria_ground_begin(&ground, run->program, true);
    struct aria_state *state = aria_state_copy(ground.aria, ground.state, &error);
    for (unsigned i = 0; i < sizeof far_branches / sizeof *far_branches; i++) {
        const uint64_t values[] = {ARIA_GROUND_CODE + 2048, 0x33, 0xad7, stack - 256, 0x2b};
        unsigned size = far_branches[i].size;
        random_machine(&before, &random);
        before.rip = ARIA_GROUND_CODE + 64 * i;
        before.registers[DECODE_RSP] = stack;
        before.registers[DECODE_RBX] = stack + 512;
        before.flags &= ~(uint64_t)0x4000;
        for (unsigned part = 0; part < 5; part++)
            memcpy(memory + 4096 + part * size, &values[part], size);
        memcpy(memory + 4096 + 512, &values[0], 4);
        memcpy(memory + 4096 + 516, &values[1], 2);
        aria_write(ground.aria, before.rip, far_branches[i].bytes, 4);
        unsigned ran = *run->ran;
        const char *what = try_both(&ground, state, &before, memory, run->ran);
        if (what || *run->ran == ran || state->rip != values[0]) {
            dprintf(2, "far branch %u: %s\n", i, what ? what : "wrong target");
            ++*run->failed;
        }
    }
    aria_state_free(state);
    aria_ground_end(&ground);
}

/* Random valid instructions with operands in memory: both versions have the same effect. */
static void run_random(void *context)
{
    static struct random_instruction made[CELLS];
    static struct machine before[CELLS];
    static uint8_t code[CELL * CELLS], memory[ARIA_GROUND_DATA_BYTES];
    struct random_run *run = context;
    struct aria_ground ground;
    struct bt_error error;
    uint64_t random = random_seed(run->count);
    aria_ground_begin(&ground, run->program, true);
    struct aria_state *state = aria_state_copy(ground.aria, ground.state, &error);
    for (unsigned page = 0; page < run->count / CELLS && *run->failed < 20; page++) {
        uint64_t address = ARIA_GROUND_CODE + page * sizeof code;
        memset(code, 0x90, sizeof code);
        for (unsigned i = 0; i < CELLS; i++) {
            do {
                make_one(&made[i], &random, address + i * CELL);
                random_machine(&before[i], &random);
                before[i].rip = address + i * CELL;
            } while (!random_instruction_place(&made[i], &before[i], &random, &region));
            memcpy(code + i * CELL, made[i].bytes, made[i].instruction.length);
        }
        aria_write(ground.aria, address, code, sizeof code);
        for (unsigned i = 0; i < CELLS; i++) {
            random_fill(&random, memory + sizeof memory / 4, sizeof memory / 2);
            random_instruction_fill(&made[i], &before[i], &random, memory, &region);
            const char *what = try_both(&ground, state, &before[i], memory, run->ran);
            for (unsigned again = 0; what && again < 10 && depends_on_chance(&made[i]); again++)
                what = try_both(&ground, state, &before[i], memory, run->ran);
            if (what)
                print_instruction(&made[i], what);
            *run->failed += what != NULL;
        }
    }
    aria_state_free(state);
    aria_ground_end(&ground);
}

/* Runs a function in a child, which shares the counters. */
static void run_on_ground(void (*function)(void *context), struct random_run *run)
{
    static struct exec_child child;
    char folder[FOLDER_PATH_BYTES], program[FOLDER_PATH_BYTES + 16];
    unsigned *results = exec_child_share(2 * sizeof *results);
    run->program = program;
    run->failed = results;
    run->ran = results + 1;
    CU_ASSERT_PTR_NOT_NULL_FATAL(results);
    folder_make_for_programs(folder);
    snprintf(program, sizeof program, "%s/ground", folder);
    CU_ASSERT_FATAL(exec_child_compile(program, "tests/capture/programs/ground.c", "-O1"));
    exec_child_run(&child, function, run);
    CU_ASSERT_EQUAL(child.status, 0);
    CU_ASSERT_EQUAL(*run->failed, 0);
    folder_remove(folder);
}

static void test_random(void)
{
    const char *count = getenv("EXEC_SEEDS");
    struct random_run run = {.count = count ? (unsigned)atoi(count) : 12800};
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    run_on_ground(run_random, &run);
    CU_ASSERT(*run.ran > run.count / 2);
}

static void test_far(void)
{
    struct random_run run = {.count = 0};
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    run_on_ground(run_far, &run);
    CU_ASSERT_EQUAL(*run.ran, 7);
}

/* --- wild paths ------------------------------------------------------------------------------- */

#define WAYS_A_TIME 60u /* between checks of all memory */

struct wild_run {
    const char *const *arguments;
    unsigned count;
    uint64_t *instructions;
};

_Noreturn static void give_up(const char *what)
{
    dprintf(2, "%s\n", what);
    _exit(99);
}

static struct aria_state *must(struct aria_state *state, const struct bt_error *error)
{
    if (!state)
        give_up(error->message);
    return state;
}

/* Any address: near code that has just run, in its registers, on the stack, or nowhere. */
static uint64_t wild_address(const struct aria_state *state, uint64_t *random)
{
    switch (random_below(random, 6)) {
    case 0:
        return state->rip + random_below(random, 64);
    case 1:
        return state->rip + random_below(random, 1 << 20) - (1 << 19);
    case 2:
        return state->registers[random_below(random, 16)] + random_below(random, 64);
    case 3:
        return (random_one_in(random, 2) ? (uint64_t)(uintptr_t)state
                                         : (uint64_t)(uintptr_t)wild_address) +
               random_below(random, 4096);
    case 4:
        return random_next(random) >> random_below(random, 64);
    default:
        return state->rip;
    }
}

static void make_wild(const struct aria_state *from, struct aria_state *state, uint64_t *random)
{
    static struct machine machine;
    uint64_t fs = random_next(random) >> (17 + random_below(random, 40));
    if (random_one_in(random, 3)) {
        random_machine(&machine, random);
        memcpy(state->registers, machine.registers, sizeof state->registers);
        memcpy(state->vector, machine.vector, machine_vector_bytes());
        state->flags = machine.flags;
    }
    for (unsigned i = 0; i < 16; i++)
        if (random_one_in(random, 4))
            state->registers[i] = wild_address(from, random);
    if (random_one_in(random, 8))
        state->fs_base = fs;
    state->rip = wild_address(from, random);
}

/* A path of a few branches. */
static uint64_t go_astray(struct aria *aria, struct aria_state *state, uint64_t *random)
{
    struct bt_error error;
    struct aria_step step;
    uint64_t instructions = 0;
    for (unsigned i = 0; i < 6; i++) {
        uint64_t limit = random_one_in(random, 2) ? 0 : 1 + random_below(random, 80);
        if (aria_execute(aria, state, ARIA_NOT_TAKEN, limit, &step, &error) != 0)
            give_up(error.message);
        if (step.instructions > (limit ? limit : 4096) || step.reason == ARIA_EXIT)
            give_up("wrong result");
        instructions += step.instructions;
        if (step.reason == ARIA_SIGNAL || step.reason == ARIA_SYSTEM_CALL)
            break;
    }
    return instructions;
}

static void run_wild(void *context)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    const struct wild_run *run = context;
    const struct aria_settings settings = {.stack = {.environment = environment}};
    struct bt_error error = {.message = ""};
    struct aria_step step;
    uint64_t random = random_seed(run->count);
    struct aria *aria = aria_new(run->arguments[0], run->arguments, &settings, &error);
    if (!aria)
        give_up(error.message);
    struct aria_state *state = must(aria_initial(aria, &error), &error);
    struct aria_state *wild = must(aria_state_copy(aria, state, &error), &error);
    for (unsigned count = 0; count < run->count;) {
        for (uint64_t i = random_below(&random, 3000); i > 0; i--)
            if (aria_execute(aria, state, ARIA_TAKEN, 0, &step, &error) != 0)
                give_up(error.message);
        if (step.reason == ARIA_EXIT)
            break;
        uint64_t before = aria_ground_sum(aria);
        for (unsigned i = 0; i < WAYS_A_TIME; i++, count++) {
            aria_state_assign(aria, wild, state);
            make_wild(state, wild, &random);
            *run->instructions += go_astray(aria, wild, &random);
        }
        if (aria_ground_sum(aria) != before)
            give_up("memory has changed");
    }
    do {
        if (aria_execute(aria, state, ARIA_TAKEN, 0, &step, &error) != 0)
            give_up(error.message);
    } while (step.reason != ARIA_EXIT);
    process_exit(&step.end);
}

/* Paths from anywhere, with anything in the registers: the program does not notice. */
static void test_wild(void)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    static const char *const programs[][5] = {{"/bin/ls", "-ln", "listed", NULL},
                                              {"/bin/gzip", "-6", "-c", "text", NULL}};
    static struct exec_child native, child;
    const char *count = getenv("EXEC_SEEDS");
    struct work_folder folder;
    work_folder_enter(&folder);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        uint64_t *instructions = exec_child_share(sizeof *instructions);
        struct wild_run run = {programs[i], count ? (unsigned)atoi(count) : 3000, instructions};
        if (!EXEC_CHILD_LOW_MEMORY || access(programs[i][0], X_OK) != 0 || !instructions)
            continue;
        exec_child_native(&native, programs[i], environment);
        exec_child_run(&child, run_wild, &run);
        CU_ASSERT_EQUAL(child.status, native.status);
        CU_ASSERT_STRING_EQUAL(child.output, native.output);
        CU_ASSERT(*instructions > 3000);
    }
    work_folder_leave(&folder);
}

/* --- the real path, first not taken ----------------------------------------------------------- */

struct both_run {
    const char *const *arguments;
    unsigned *compared, *failed;
};

/* False for rdtsc, rdtscp, cpuid, rdrand and rdseed: their results differ each time. */
static bool is_steady(struct aria *aria, const struct aria_step *step)
{
    for (size_t i = 0; i < step->record_count; i++) {
        uint8_t bytes[3] = {0};
        if (step->records[i].type == REQUEST_MEMWRITE)
            return false; /* a write may be read later in the step */
        if (step->records[i].type != REQUEST_FETCH)
            continue;
        aria_read(aria, bytes, step->records[i].address, step->records[i].size < 3 ? 2 : 3);
        if (bytes[0] == 0x0f && (bytes[1] == 0x31 || bytes[1] == 0xa2 || bytes[1] == 0xc7 ||
                                 (bytes[1] == 0x01 && bytes[2] == 0xf9)))
            return false;
        if (bytes[1] == 0x0f && bytes[2] == 0xc7)
            return false;
    }
    return true;
}

/* Compares branch, records and registers. */
static const char *compare_steps(const struct aria_step *a, const struct record *records,
                                 const struct aria_step *b, const struct aria_state *state,
                                 const struct aria_state *other)
{
    static struct machine one, two;
    if (b->reason != ARIA_BRANCH || a->branch != b->branch || a->taken != b->taken ||
        a->branch_address != b->branch_address || a->next != b->next || a->target != b->target)
        return "branch";
    if (a->record_count != b->record_count ||
        memcmp(records, b->records, a->record_count * sizeof *records) != 0)
        return "records";
    aria_ground_save(state, &one);
    aria_ground_save(other, &two);
    return machine_difference(&one, &two);
}

static void run_both(void *context)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    static struct record records[65536];
    const struct both_run *run = context;
    const struct aria_settings settings = {.stack = {.environment = environment}};
    struct bt_error error = {.message = ""};
    struct aria_step step, other;
    struct aria *aria = aria_new(run->arguments[0], run->arguments, &settings, &error);
    if (!aria)
        give_up(error.message);
    struct aria_state *state = must(aria_initial(aria, &error), &error);
    struct aria_state *copy = must(aria_state_copy(aria, state, &error), &error);
    do {
        aria_state_assign(aria, copy, state);
        if (aria_execute(aria, copy, ARIA_NOT_TAKEN, 0, &other, &error) != 0)
            give_up(error.message);
        struct aria_step not_taken = other;
        bool compared =
            other.reason == ARIA_BRANCH && other.record_count < 65536 && is_steady(aria, &other);
        if (compared)
            memcpy(records, other.records, other.record_count * sizeof *records);
        if (aria_execute(aria, state, ARIA_TAKEN, 0, &step, &error) != 0)
            give_up(error.message);
        if (!compared || step.reason == ARIA_SIGNAL)
            continue;
        const char *what = compare_steps(&not_taken, records, &step, copy, state);
        ++*run->compared;
        if (what && ++*run->failed < 10)
            dprintf(2, "branch at %llx: %s\n", (unsigned long long)step.branch_address, what);
    } while (step.reason != ARIA_EXIT);
    process_exit(&step.end);
}

/* Steps that do not write: not taken, then taken. */
static void test_both(void)
{
    static const char *const programs[][5] = {{"/bin/ls", "-ln", "listed", NULL},
                                              {"/usr/bin/sort", "-n", "text", NULL}};
    static struct exec_child child;
    struct work_folder folder;
    work_folder_enter(&folder);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        unsigned *results = exec_child_share(2 * sizeof *results);
        if (!EXEC_CHILD_LOW_MEMORY || access(programs[i][0], X_OK) != 0 || !results)
            continue;
        struct both_run run = {
            .arguments = programs[i], .compared = &results[0], .failed = &results[1]};
        exec_child_run(&child, run_both, &run);
        CU_ASSERT_EQUAL(child.status, 0);
        CU_ASSERT_EQUAL(*run.failed, 0);
        CU_ASSERT(*run.compared > 10000);
    }
    work_folder_leave(&folder);
}

static const struct test_case cases[] = {{"random instructions", test_random},
                                         {"far branches", test_far},
                                         {"wild paths", test_wild},
                                         {"as if taken", test_both},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_not_taken, cases)
