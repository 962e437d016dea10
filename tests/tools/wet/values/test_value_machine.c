/* The machine that guesses values: it does what the processor does. */
#include "tools/wet/values/value_machine.h"

#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"
#include "tools/wet/values/value_integer.h"
#include "tools/wet/values/value_vector.h"

#include <cpuid.h>
#include <signal.h>
#include <stdio.h>

#define INSTRUCTIONS   30000u
#define ZERO_FLAG      UINT64_C(0x40)
#define MXCSR_OFFSET   24u /* in the legacy area */
#define INT3           0xccu
#define STATUS_FLAGS   UINT64_C(0x8d5)
#define DIRECTION_FLAG UINT64_C(0x400)

static const struct region region = {.address = EXEC_RIG_DATA, .size = EXEC_RIG_DATA_BYTES};

struct trial {
    struct random_instruction made;
    struct data_flow flow;
    struct value_rule rule;
    struct machine before, after;
    uint8_t memory[EXEC_RIG_DATA_BYTES];
};

struct fixture {
    struct exec_rig rig;
    struct value_machine machine;
    struct value_thread thread;
    uint64_t random;
    unsigned tried[256], wrong[256]; /* by operation */
};

/* The flags after a comparison of two numbers. */
static uint64_t compare(uint64_t first, uint64_t second)
{
    uint64_t flags;
    __asm__("cmp %2, %1\n\tpushfq\n\tpop %0" : "=r"(flags) : "r"(first), "r"(second) : "cc");
    return flags & STATUS_FLAGS;
}

/* Gives the machine the processor's registers. */
static void load(struct fixture *fixture, struct trial *trial)
{
    static const uint32_t mxcsr = 0x1f80; /* as when a program starts */
    struct value_thread *thread = &fixture->thread;
    const uint64_t first = random_next(&fixture->random);
    const uint64_t second =
        random_one_in(&fixture->random, 3) ? first : random_next(&fixture->random);
    trial->before.flags =
        (trial->before.flags & ~(STATUS_FLAGS | DIRECTION_FLAG)) | compare(first, second);
    memcpy(trial->before.vector + MXCSR_OFFSET, &mxcsr, sizeof mxcsr);
    *thread = (struct value_thread){.flag_kind = VALUE_FLAGS_SUB,
                                    .flag_width = 8,
                                    .flag_first = first,
                                    .flag_second = second,
                                    .flag_result = first - second};
    memcpy(thread->registers, trial->before.registers, sizeof trial->before.registers);
    for (unsigned number = 0; number < 16; number++)
        for (unsigned byte = 0; byte < 16; byte++)
            ((uint8_t *)thread->vectors[number])[byte] =
                *machine_vector_byte(&trial->before, number, byte);
    value_memory_write_bytes(&fixture->machine.memory, region.address, trial->memory, region.size);
}

/* The value that the processor computed. */
static void find_value(const struct fixture *fixture, const struct trial *trial, uint8_t *value)
{
    const struct value_rule *rule = &trial->rule;
    for (unsigned i = 0; i < rule->size; i++)
        switch (rule->place) {
        case VALUE_TO_VECTOR:
            value[i] = *machine_vector_byte(&trial->after, rule->destination, rule->offset + i);
            break;
        case VALUE_TO_MEMORY:
            value[i] = fixture->machine.address - region.address + i < region.size
                           ? fixture->rig.data[fixture->machine.address - region.address + i]
                           : 0;
            break;
        default:
            value[i] =
                (uint8_t)(trial->after.registers[rule->destination] >> 8 * (rule->offset + i));
            break;
        }
}

static bool has_lzcnt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 5 & 1;
}

static bool is_interesting(const struct value_rule *rule)
{
    if ((rule->operation == VALUE_SHLD || rule->operation == VALUE_SHRD) && rule->width == 2)
        return false; /* perhaps undefined */
    if ((rule->operation == VALUE_LZCNT && !has_lzcnt()) ||
        (rule->operation == VALUE_TZCNT && !__builtin_cpu_supports("bmi")))
        return false; /* older processors execute bsr and bsf */
    return rule->operation > VALUE_UNKNOWN && rule->operation != VALUE_SYSTEM_CALL &&
           rule->size != 0 && rule->size <= 16 && rule->place != VALUE_TO_NOTHING &&
           rule->place != VALUE_TO_MASK &&
           (rule->place != VALUE_TO_VECTOR || rule->destination < 16);
}

static void make(struct fixture *fixture, struct trial *trial)
{
    struct decode_instruction instruction;
    do {
        random_instruction_make(&trial->made, &fixture->random, EXEC_RIG_CODE, &region);
        decode(&instruction, trial->made.bytes, trial->made.instruction.length, EXEC_RIG_CODE);
        data_flow_of(&trial->flow, &instruction);
        value_rule_make(&trial->rule, &instruction, &trial->flow);
        random_machine(&trial->before, &fixture->random);
        trial->before.rip = EXEC_RIG_CODE;
    } while (!is_interesting(&trial->rule) ||
             !random_instruction_place(&trial->made, &trial->before, &fixture->random, &region));
    if (random_one_in(&fixture->random, 2))
        value_rules_join(&trial->rule, 1);
    random_fill(&fixture->random, trial->memory, sizeof trial->memory);
}

/* Whether the guess and the other registers are right, if the instruction defines its value. */
static bool is_right(struct fixture *fixture, struct trial *trial)
{
    const struct value_rule *rule = &trial->rule;
    uint64_t value[8] = {0};
    if (trial->flow.value.condition == DATA_FLOW_IF_CONDITION &&
        !value_integer_condition(&fixture->thread, trial->flow.condition_code))
        return true; /* it does not move */
    if (trial->flow.value.condition == DATA_FLOW_IF_REPEATED &&
        trial->before.registers[DECODE_RCX] == 0)
        return true;
    const uint64_t guess = value_machine_guess(&fixture->machine, rule);
    const uint64_t *guesses = rule->operation >= VALUE_VECTOR ? fixture->machine.words : &guess;
    find_value(fixture, trial, (uint8_t *)value);
    if (rule->place != VALUE_TO_SCANNED && memcmp(value, guesses, rule->size) != 0)
        return trial->flow.value.condition == DATA_FLOW_IF_NOT_ZERO &&
               trial->after.flags & ZERO_FLAG;
    if (rule->size <= 8)
        value_machine_settle(&fixture->machine, rule, value[0]);
    if (rule->operation == VALUE_COMPARE_EXCHANGE) /* the upper half depends on the processor */
        return true;
    return memcmp(fixture->thread.registers, trial->after.registers,
                  sizeof trial->after.registers) == 0;
}

static void print_wrong(const struct trial *trial)
{
    for (unsigned i = 0; i < trial->made.instruction.length; i++)
        printf("%02x", trial->made.bytes[i]);
    printf(" %s\n", ZydisMnemonicGetString(trial->made.instruction.mnemonic));
}

static void try_one(struct fixture *fixture)
{
    static struct trial trial;
    make(fixture, &trial);
    load(fixture, &trial);
    memcpy(fixture->rig.code, trial.made.bytes, trial.made.instruction.length);
    fixture->rig.code[trial.made.instruction.length] = INT3;
    memcpy(fixture->rig.data, trial.memory, sizeof trial.memory);
    trial.after = trial.before;
    if (native_run(&trial.after, NULL, NULL).signal != SIGTRAP)
        return; /* it faults */
    fixture->tried[trial.rule.operation]++;
    if (!is_right(fixture, &trial)) {
        fixture->wrong[trial.rule.operation]++;
        print_wrong(&trial);
    }
}

static void test_random_instructions(void)
{
    static struct fixture fixture;
    unsigned wrong = 0, operations = 0;
    fixture.random = random_seed(5);
    fixture.machine.thread = &fixture.thread;
    CU_ASSERT_FATAL(exec_rig_begin(&fixture.rig, EXEC_TRACE_NONE, false, 0, 4 << 20));
    CU_ASSERT_EQUAL_FATAL(value_memory_init(&fixture.machine.memory), 0);
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        try_one(&fixture);
    for (unsigned i = 0; i < 256; i++) {
        wrong += fixture.wrong[i];
        operations += fixture.tried[i] > 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(operations > 60);
    value_memory_clear(&fixture.machine.memory);
    exec_rig_end(&fixture.rig);
}

/* --- flags -------------------------------------------------------------------------------------
 */

/* One operation of rax (and rbx) of some width, and one that reads its flags and writes rcx. */
static unsigned make_pair(uint8_t *code, uint64_t *random, unsigned *first)
{
    static const uint8_t binary[] = {0x00, 0x28, 0x20, 0x08, 0x30, 0x38, 0x84, 0x10, 0x18};
    static const uint8_t unary[] = {0xc0, 0xc8}; /* inc, dec */
    const unsigned width = (unsigned)random_below(random, 4),
                   which = (unsigned)random_below(random, 12);
    unsigned size = 0;
    if (width == 1)
        code[size++] = 0x66;
    if (width == 3)
        code[size++] = 0x48;
    if (which < sizeof binary) {
        code[size++] = binary[which] | (width != 0);
        code[size++] = 0xd8;
    } else if (which < sizeof binary + sizeof unary) {
        code[size++] = 0xfe | (width != 0);
        code[size++] = unary[which - sizeof binary];
    } else { /* neg */
        code[size++] = 0xf6 | (width != 0);
        code[size++] = 0xd8;
    }
    *first = size;
    if (random_one_in(random, 4)) { /* adc or sbb */
        code[size++] = random_one_in(random, 2) ? 0x11 : 0x19;
        code[size++] = 0xd1;
    } else {
        code[size++] = 0x0f;
        code[size++] = 0x90 | (uint8_t)random_below(random, 16);
        code[size++] = 0xc1;
    }
    code[size] = INT3;
    return size;
}

static uint64_t random_operand(uint64_t *random)
{
    static const uint64_t edges[] = {
        0,         1,          0x7f,       0x80,      0x7fff,
        0x8000,    0x7fffffff, 0x80000000, INT64_MAX, (uint64_t)INT64_MAX + 1,
        UINT64_MAX};
    return random_one_in(random, 2) ? edges[random_below(random, sizeof edges / sizeof *edges)]
                                    : random_next(random);
}

static void test_flags(void)
{
    static struct fixture fixture;
    static struct trial trial;
    unsigned wrong = 0;
    fixture.random = random_seed(6);
    fixture.machine.thread = &fixture.thread;
    CU_ASSERT_FATAL(exec_rig_begin(&fixture.rig, EXEC_TRACE_NONE, false, 0, 4 << 20));
    CU_ASSERT_EQUAL_FATAL(value_memory_init(&fixture.machine.memory), 0);
    for (unsigned i = 0; i < 6000; i++) {
        struct value_rule rules[2];
        unsigned first;
        const unsigned size = make_pair(fixture.rig.code, &fixture.random, &first);
        for (unsigned at = 0; at < 2; at++) {
            struct decode_instruction instruction;
            decode(&instruction, fixture.rig.code + (at ? first : 0), at ? size - first : first,
                   EXEC_RIG_CODE + (at ? first : 0));
            data_flow_of(&trial.flow, &instruction);
            value_rule_make(&rules[at], &instruction, &trial.flow);
        }
        value_rules_join(rules, 2);
        random_machine(&trial.before, &fixture.random);
        trial.before.rip = EXEC_RIG_CODE;
        trial.before.registers[DECODE_RAX] = random_operand(&fixture.random);
        trial.before.registers[DECODE_RBX] = random_operand(&fixture.random);
        trial.before.registers[DECODE_RCX] = random_operand(&fixture.random);
        load(&fixture, &trial);
        trial.after = trial.before;
        CU_ASSERT_EQUAL_FATAL(native_run(&trial.after, NULL, NULL).signal, SIGTRAP);
        for (unsigned at = 0; at < 2; at++) {
            const uint64_t guess = value_machine_guess(&fixture.machine, &rules[at]);
            if (rules[at].size != 0)
                value_machine_settle(&fixture.machine, &rules[at],
                                     value_cut(guess, rules[at].size));
        }
        wrong += memcmp(fixture.thread.registers, trial.after.registers,
                        sizeof trial.after.registers) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    value_memory_clear(&fixture.machine.memory);
    exec_rig_end(&fixture.rig);
}

static const struct test_case cases[] = {
    {"random instructions", test_random_instructions}, {"flags", test_flags}, {NULL, NULL}};
TEST_SUITE_XSAVE(value_machine, cases)
