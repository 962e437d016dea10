/* Instructions defined by a control program: executed, recorded, and not taken. */
#include "tests/suites.h"
#include "tests/support/aria_ground.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CODE ARIA_GROUND_CODE
#define DATA ARIA_GROUND_DATA

/* Runs in the child, whose standard error is checked. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(2, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                             \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* multiply_add r1, r2, imm: 0f 3b, the registers' numbers, a constant. */
static const uint8_t multiply_add_code[] = {0x48, 0x0f, 0xaf, 0xfe, 0x48, 0x01, 0xd7};
static const struct aria_instruction multiply_add = {
    .name = "multiply_add",
    .size = 4,
    .bytes = {0x0f, 0x3b},
    .mask = {0xff, 0xff},
    .operand_count = 3,
    .operands = {{.kind = ARIA_REGISTER, .field = {16, 4}, .read = true, .write = true},
                 {.kind = ARIA_REGISTER, .field = {20, 4}, .read = true},
                 {.kind = ARIA_IMMEDIATE, .field = {24, 8}, .is_signed = true}},
    .native = multiply_add_code,
    .native_size = sizeof multiply_add_code};

/* [r1 + d] += 8 bytes at [address in r2], which gets the old value; and r8 counts. */
static int fetch_add(void *context, struct aria_call *call)
{
    unsigned *calls = context;
    uint64_t more;
    if (aria_call_read(call, call->values[1], &more, sizeof more) != 0)
        return SIGSEGV;
    call->values[1] = call->values[0];
    call->values[0] += more;
    call->registers[8]++;
    ++*calls;
    return 0;
}

static struct aria_instruction fetch_add_with(unsigned *calls)
{
    return (struct aria_instruction){
        .name = "fetch_add",
        .size = 3,
        .bytes = {0x0e},
        .mask = {0xff},
        .operand_count = 2,
        .operands = {{.kind = ARIA_MEMORY,
                      .field = {8, 4},
                      .displacement = {16, 8},
                      .size = 4,
                      .read = true,
                      .write = true},
                     {.kind = ARIA_REGISTER, .field = {12, 4}, .read = true, .write = true}},
        .function = fetch_add,
        .context = calls};
}

static const uint8_t code[] = {0xb8, 7,    0,    0,    0,    /* mov eax, 7 */
                               0x0f, 0x3b, 0x90, 0xff,       /* multiply_add rax, r9, -1 */
                               0xff, 0xc3,                   /* inc ebx */
                               0x0e, 0x16, 0xfc,             /* fetch_add [rsi - 4], rcx */
                               0xff, 0xc3, 0xeb, 0x00, 0x90, /* inc ebx; jmp */
                               0x0e, 0x17, 0,                /* fetch_add [rdi], rcx */
                               0xeb, 0x00};

static const struct record expected[] = {{.address = CODE,
                                          .type = REQUEST_FETCH,
                                          .size = 5,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 1},
                                         {.address = CODE + 5,
                                          .type = REQUEST_FETCH,
                                          .size = 4,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 1},
                                         {.address = CODE + 9,
                                          .type = REQUEST_FETCH,
                                          .size = 2,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 1},
                                         {.address = CODE + 11,
                                          .type = REQUEST_FETCH,
                                          .size = 3,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 1},
                                         {.address = DATA + 0x0c,
                                          .type = REQUEST_MEMREAD,
                                          .size = 4,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 0},
                                         {.address = DATA + 0x40,
                                          .type = REQUEST_MEMREAD,
                                          .size = 8,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 0},
                                         {.address = DATA + 0x0c,
                                          .type = REQUEST_MEMWRITE,
                                          .size = 4,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 0},
                                         {.address = CODE + 14,
                                          .type = REQUEST_FETCH,
                                          .size = 2,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 1},
                                         {.address = CODE + 16,
                                          .type = REQUEST_FETCH,
                                          .size = 2,
                                          .attribute = ATTRIBUTE_WRITE_BACK,
                                          .processor = 0,
                                          .time = 1}};
#define EXPECTED (sizeof expected / sizeof *expected)

struct taken_records {
    struct record records[64];
    size_t count;
};

static int take(void *context, struct record *records, size_t count)
{
    struct taken_records *taken = context;
    CHECK(taken->count + count <= 64);
    memcpy(taken->records + taken->count, records, count * sizeof *records);
    taken->count += count;
    return 0;
}

/* Initial registers and memory. */
static void prepare(const struct aria_ground *ground, struct aria_state *state)
{
    const uint32_t numbers[32] = {[3] = 100, [16] = 23};
    CHECK(aria_write(ground->aria, DATA, numbers, sizeof numbers) == 0);
    aria_state_assign(ground->aria, state, ground->state);
    state->rip = CODE;
    state->registers[DECODE_R9] = 6;
    state->registers[DECODE_RCX] = DATA + 0x40;
    state->registers[DECODE_RSI] = DATA + 0x10;
    state->registers[DECODE_RDI] = 0x1000;
    state->registers[DECODE_RBX] = state->registers[DECODE_R8] = 0;
    state->flags |= 1;
}

static void check_registers(const struct aria_state *state)
{
    CHECK(state->registers[DECODE_RAX] == 7 * 6 - 1);
    CHECK(state->registers[DECODE_R9] == 6 && state->registers[DECODE_RDX] != 0xff);
    CHECK(state->registers[DECODE_RCX] == 100);
    CHECK(state->registers[DECODE_RBX] == 2 && state->registers[DECODE_R8] == 1);
    CHECK(state->registers[DECODE_RSI] == DATA + 0x10);
    CHECK(state->flags & 1); /* unchanged by the sequence, and by inc */
    CHECK(state->rip == CODE + 18);
}

static void check_number(const struct aria_ground *ground, uint32_t value)
{
    uint32_t number = 0;
    CHECK(aria_read(ground->aria, &number, DATA + 0x0c, sizeof number) == 0);
    CHECK(number == value);
}

static void check_version(const struct aria_ground *ground, struct aria_state *state,
                          enum aria_version version)
{
    struct aria_step step;
    struct bt_error error;
    prepare(ground, state);
    CHECK(aria_execute(ground->aria, state, version, 0, &step, &error) == 0);
    CHECK(step.reason == ARIA_BRANCH && step.instructions == 6);
    CHECK(step.record_count == EXPECTED);
    CHECK(memcmp(step.records, expected, sizeof expected) == 0);
    check_registers(state);
    check_number(ground, version == ARIA_TAKEN ? 123 : 100);
    /* a store that is not taken is in the state's store buffer */
    uint32_t seen = 0;
    CHECK(aria_read_as(ground->aria, state, &seen, DATA + 0x0c, sizeof seen) == 0 && seen == 123);
    /* the limit counts new instructions */
    prepare(ground, state);
    for (unsigned i = 0; i < 6; i++) {
        CHECK(aria_execute(ground->aria, state, version, 1, &step, &error) == 0);
        CHECK(step.instructions == 1);
    }
    check_registers(state);
    /* no memory there */
    state->rip = CODE + 19;
    CHECK(aria_execute(ground->aria, state, version, 0, &step, &error) == 0);
    if (version == ARIA_TAKEN)
        CHECK(step.reason == ARIA_SIGNAL && step.signal == SIGSEGV && step.record_count == 0);
    else
        CHECK(step.reason == ARIA_BRANCH && state->registers[DECODE_RCX] == 0);
}

static void check_running(const struct aria_ground *ground, struct aria_state *state)
{
    struct taken_records taken = {.count = 0};
    struct aria_step step;
    struct bt_error error;
    prepare(ground, state);
    aria_stop_at(ground->aria, CODE + 18);
    CHECK(aria_run(ground->aria, state, 0, take, &taken, &step, &error) == 0);
    CHECK(step.reason == ARIA_BREAKPOINT && step.instructions == 6);
    CHECK(taken.count == EXPECTED && memcmp(taken.records, expected, sizeof expected) == 0);
    check_registers(state);
    check_number(ground, 123);
    aria_stop_at(ground->aria, 0);
}

static void check_refused(const struct aria_ground *ground)
{
    static const struct {
        uint8_t bytes[8];
        size_t size;
        const char *why;
    } wrong[] = {{{0x8b, 0x07}, 2, "memory"},
                 {{0xeb, 0x00}, 2, "branch"},
                 {{0x48, 0xff, 0xc4}, 3, "rsp"},
                 {{0x50}, 1, "memory"},
                 {{0x48, 0x8d, 0x05, 0, 0, 0, 0}, 7, "own address"},
                 {{0x0f, 0x05}, 2, "not allowed"},
                 {{0x06}, 1, "not an instruction"},
                 {{0x0f}, 0, "empty"}};
    struct bt_error error;
    struct aria_instruction instruction = multiply_add;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        instruction.native = wrong[i].bytes;
        instruction.native_size = wrong[i].size;
        CHECK(aria_define(ground->aria, &instruction, &error) != 0);
        CHECK(strstr(error.message, wrong[i].why));
    }
    instruction = multiply_add;
    instruction.operands[0].field = (struct aria_field){30, 4};
    CHECK(aria_define(ground->aria, &instruction, &error) != 0);
    instruction = multiply_add;
    memset(instruction.mask, 0, sizeof instruction.mask);
    CHECK(aria_define(ground->aria, &instruction, &error) != 0);
    instruction.native = NULL;
    CHECK(aria_define(ground->aria, &instruction, &error) != 0);
}

static void run(void *program)
{
    struct aria_ground ground;
    struct bt_error error;
    struct aria_step step;
    unsigned calls = 0;
    const struct aria_instruction second = fetch_add_with(&calls);
    aria_ground_begin(&ground, program, true);
    struct aria_state *state = aria_state_copy(ground.aria, ground.state, &error);
    CHECK(state && aria_write(ground.aria, CODE, code, sizeof code) == 0);
    /* before their definition they are invalid */
    prepare(&ground, state);
    CHECK(aria_execute(ground.aria, state, ARIA_TAKEN, 0, &step, &error) == 0);
    CHECK(step.reason == ARIA_SIGNAL && step.signal == SIGILL);
    prepare(&ground, state);
    CHECK(aria_execute(ground.aria, state, ARIA_NOT_TAKEN, 0, &step, &error) == 0);
    check_refused(&ground);
    CHECK(aria_define(ground.aria, &multiply_add, &error) == 0);
    CHECK(aria_define(ground.aria, &second, &error) == 0);
    for (unsigned i = 0; i < 3; i++) {
        check_version(&ground, state, ARIA_TAKEN);
        check_version(&ground, state, ARIA_NOT_TAKEN);
        check_running(&ground, state);
    }
    CHECK(calls == 3 * (2 + 3 + 1));
    aria_state_free(state);
    aria_ground_end(&ground);
    printf("done\n");
    fflush(stdout);
}

static void test_define(void)
{
    static struct exec_child child;
    char folder[FOLDER_PATH_BYTES], program[FOLDER_PATH_BYTES + 16];
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    folder_make_for_programs(folder);
    snprintf(program, sizeof program, "%s/ground", folder);
    CU_ASSERT_FATAL(exec_child_compile(program, "tests/capture/programs/ground.c", "-O1"));
    exec_child_run(&child, run, program);
    CU_ASSERT_EQUAL(child.status, 0);
    CU_ASSERT_STRING_EQUAL(child.output, "done\n");
    folder_remove(folder);
}

static const struct test_case cases[] = {{"new instructions", test_define}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_define, cases)
