/* Outcomes of conditional instructions: which have one, and what the trace says of each. */
#include "capture/exec/translate/outcome.h"
#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/random.h"

#include <string.h>

#define CARRY    0x001u
#define PARITY   0x004u
#define ZERO     0x040u
#define SIGN     0x080u
#define OVERFLOW 0x800u
#define ALL      (CARRY | PARITY | ZERO | SIGN | OVERFLOW)

static struct outcome outcome_of_bytes(const uint8_t *bytes, size_t size)
{
    struct decode_instruction instruction;
    decode(&instruction, bytes, size, EXEC_RIG_CODE);
    CU_ASSERT_EQUAL(instruction.size, size);
    return outcome_of(&instruction);
}

static void test_kinds(void)
{
    static const struct {
        uint8_t bytes[9];
        uint8_t size, kind, condition;
    } forms[] = {
        {{0x0f, 0x44, 0xc1}, 3, OUTCOME_CONDITION, 4},                    /* cmove */
        {{0x66, 0x45, 0x0f, 0x4f, 0x04, 0x24}, 6, OUTCOME_CONDITION, 15}, /* cmovg, 16 bits */
        {{0xda, 0xd1}, 2, OUTCOME_CONDITION, 6},                          /* fcmovbe */
        {{0xdb, 0xd9}, 2, OUTCOME_CONDITION, 11},                         /* fcmovnu */
        {{0x48, 0xd3, 0xe0}, 3, OUTCOME_COUNT, 0},                        /* shl rax, cl */
        {{0xd2, 0x08}, 2, OUTCOME_COUNT, 0},                              /* ror [rax], cl */
        {{0x0f, 0xa5, 0xd0}, 3, OUTCOME_COUNT, 0},                        /* shld */
        {{0x0f, 0xbc, 0xc1}, 3, OUTCOME_ZERO_FLAG, 4},                    /* bsf */
        {{0x0f, 0xbd, 0x01}, 3, OUTCOME_ZERO_FLAG, 4},                    /* bsr */
        {{0xf0, 0x48, 0x0f, 0xb1, 0x0a}, 5, OUTCOME_ZERO_FLAG, 4},        /* cmpxchg */
        {{0xf0, 0x48, 0x0f, 0xc7, 0x0e}, 5, OUTCOME_ZERO_FLAG, 4},        /* cmpxchg16b */
        {{0xf3, 0x0f, 0xbc, 0xc1}, 4, OUTCOME_NONE, 0},                   /* tzcnt */
        {{0xf3, 0x48, 0x0f, 0xbd, 0xc1}, 5, OUTCOME_NONE, 0},             /* lzcnt */
        {{0xc1, 0xe0, 0x03}, 3, OUTCOME_NONE, 0},                         /* shl eax, 3 */
        {{0xd1, 0xe0}, 2, OUTCOME_NONE, 0},                               /* shl eax, 1 */
        {{0x0f, 0x94, 0xc0}, 3, OUTCOME_NONE, 0},                         /* sete */
        {{0xdb, 0xe3}, 2, OUTCOME_NONE, 0},                               /* fninit */
        {{0xda, 0xe9}, 2, OUTCOME_NONE, 0},                               /* fucompp */
        {{0x0f, 0xc7, 0xf0}, 3, OUTCOME_NONE, 0},                         /* rdrand */
        {{0xc5, 0xf8, 0x44, 0xc1}, 4, OUTCOME_NONE, 0},                   /* knotw */
        {{0xb8, 0x0f, 0x44, 0xc1, 0x00}, 5, OUTCOME_NONE, 0},             /* a constant */
        {{0x90}, 1, OUTCOME_NONE, 0}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct outcome outcome = outcome_of_bytes(forms[i].bytes, forms[i].size);
        CU_ASSERT_EQUAL(outcome.kind, forms[i].kind);
        CU_ASSERT_EQUAL(outcome.condition, forms[i].condition);
        CU_ASSERT_EQUAL(outcome.mask, forms[i].kind != OUTCOME_COUNT       ? 1
                                      : (forms[i].bytes[0] & 0xf8) == 0x48 ? 63
                                                                           : 31);
    }
}

/* The processor's conditions (Intel SDM, volume 1, appendix B). */
static bool is_true(unsigned condition, uint64_t flags)
{
    const bool carry = flags & CARRY, zero = flags & ZERO,
               less = !(flags & SIGN) != !(flags & OVERFLOW);
    const bool conditions[] = {flags & OVERFLOW, carry,          zero, carry || zero,
                               flags & SIGN,     flags & PARITY, less, less || zero};
    return conditions[condition >> 1] != (condition & 1);
}

/* Executes one instruction; returns the entry after the block's number. */
static uint32_t execute(struct exec_rig *rig, struct machine *machine, const uint8_t *bytes,
                        size_t size)
{
    memcpy(rig->code, bytes, size);
    rig->code[size] = 0xcc;
    executor_invalidate(rig->executor, EXEC_RIG_CODE, EXEC_RIG_CODE + size + 1);
    machine->rip = EXEC_RIG_CODE;
    exec_rig_load(rig, machine);
    rig->entry_count = 0;
    CU_ASSERT_EQUAL(exec_rig_run(rig).reason, EXECUTOR_TRAP);
    exec_rig_save(rig, machine);
    CU_ASSERT_EQUAL_FATAL(rig->entry_count, 2);
    return rig->entries[1];
}

static void test_trace(void)
{
    struct exec_rig rig;
    uint64_t random = random_seed(1);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_OUTCOMES, false, 0, 4 << 20));
    for (unsigned i = 0; i < 2000; i++) {
        static struct machine machine;
        const uint8_t condition = (uint8_t)random_below(&random, 16);
        const uint8_t move[] = {0x48, 0x0f, (uint8_t)(0x40 | condition), 0xc3};
        static const uint8_t shift[] = {0x48, 0xd3, 0xe0}, scan[] = {0x0f, 0xbc, 0xc3},
                             exchange[] = {0x0f, 0xb1, 0xd3};
        exec_rig_save(&rig, &machine);
        for (unsigned r = 0; r < 16; r++)
            machine.registers[r] = random_below(&random, 3);
        machine.flags = 0x202 | (random_next(&random) & ALL);
        const uint64_t flags = machine.flags, count = machine.registers[DECODE_RCX];
        CU_ASSERT_EQUAL(execute(&rig, &machine, move, sizeof move) & 0xff,
                        is_true(condition, flags));
        CU_ASSERT_EQUAL(machine.flags & ALL, flags & ALL);
        CU_ASSERT_EQUAL(execute(&rig, &machine, shift, sizeof shift), count);
        CU_ASSERT_EQUAL(execute(&rig, &machine, scan, sizeof scan) & 0xff,
                        (machine.flags & ZERO) != 0);
        CU_ASSERT_EQUAL(execute(&rig, &machine, exchange, sizeof exchange) & 0xff,
                        (machine.flags & ZERO) != 0);
    }
    exec_rig_end(&rig);
}

static const struct test_case cases[] = {
    {"kinds", test_kinds}, {"trace", test_trace}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_outcome, cases)
