/* Values in the trace: of known and of random instructions, and of sequences of them, compared with
 * the processor. The machine and memory after them must be the processor's, too. */
#include "capture/exec/translate/data_flow.h"
#include "tests/suites.h"
#include "tests/support/exec_rig.h"
#include "tests/support/random.h"
#include "tests/support/random_instruction.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INT3           0xccu
#define PLACES         100000u /* of code, 64 bytes each */
#define XSAVE_HEADER   512u
#define FLAG_DIRECTION 0x400u
#define NOWHERE        0x50000000u /* an unmapped address */

static const struct region region = {.address = EXEC_RIG_DATA, .size = EXEC_RIG_DATA_BYTES};

/* --- expected values ---------------------------------------------------------------------------
 */

/* An instruction, and the machines and the data before and after it on the processor. */
struct step {
    struct decode_instruction instruction;
    struct machine before, after;
    uint8_t memory[EXEC_RIG_DATA_BYTES];
};

static uint8_t component_byte(const struct machine *machine, unsigned component,
                              const uint8_t *byte)
{
    uint64_t present;
    memcpy(&present, machine->vector + XSAVE_HEADER, sizeof present);
    return present >> component & 1 ? *byte : 0;
}

static uint8_t vector_byte(const struct machine *machine, unsigned number, unsigned byte)
{
    const unsigned component = number >= 16 ? 7 : byte < 16 ? 1 : byte < 32 ? 2 : 6;
    return component_byte(machine, component, machine_vector_byte(machine, number, byte));
}

static uint64_t register_of(const struct machine *machine, uint8_t reg)
{
    return reg == DECODE_NONE ? 0 : machine->registers[reg];
}

/* Where the value is in memory after the instruction. */
static uint64_t address_of(const struct step *step, const struct decode_access *access)
{
    uint64_t address = register_of(&step->before, access->base) +
                       register_of(&step->before, access->index) * access->scale +
                       (uint64_t)access->displacement;
    if (access->form == DECODE_BITS)
        address += (uint64_t)decode_bit_offset(access, step->before.registers[access->mask]);
    if (access->form == DECODE_REPEATED) {
        const uint64_t after = step->after.registers[access->base];
        address = step->after.flags & FLAG_DIRECTION ? after + access->size : after - access->size;
    }
    return access->narrow ? (uint32_t)address : address;
}

static uint8_t memory_byte(const struct step *step, uint64_t address)
{
    const uint64_t offset = address - EXEC_RIG_DATA;
    return offset < sizeof step->memory ? step->memory[offset]
                                        : *(const uint8_t *)(uintptr_t)address; /* not changed */
}

static uint8_t expected_byte(const struct step *step, const struct data_flow *flow, unsigned i)
{
    const struct data_flow_part *part = &flow->value;
    const struct machine *after = &step->after;
    const unsigned byte = (part->bytes ? (unsigned)__builtin_ctzll(part->bytes) : 0) + i;
    size_t size;
    switch ((enum data_flow_kind)part->kind) {
    case DATA_FLOW_GENERAL:
        return (uint8_t)(after->registers[part->number] >> 8 * byte);
    case DATA_FLOW_VECTOR:
        return vector_byte(after, part->number, byte);
    case DATA_FLOW_X87:
    case DATA_FLOW_MMX: /* the top of the stack is 0 */
        return component_byte(after, 0, after->vector + 32 + 16 * part->number + byte);
    case DATA_FLOW_MASK:
        return component_byte(
            after, 5, after->vector + machine_component(5, &size) + 8 * part->number + byte);
    case DATA_FLOW_MEMORY:
        return memory_byte(step, address_of(step, &step->instruction.accesses[part->number]) + i);
    default:
        return 0;
    }
}

/* Whether the instruction was repeated 0 times, and so defines nothing. */
static bool defines_nothing(const struct step *step)
{
    const uint64_t count = step->before.registers[DECODE_RCX];
    return step->instruction.repeated &&
           (step->instruction.accesses[0].narrow ? (uint32_t)count : count) == 0;
}

/* --- values in the trace -----------------------------------------------------------------------
 */

/* How often values of each kind were compared. */
static unsigned met[DATA_FLOW_MEMORY + 1];

static const struct value_slot *find_value(const struct block *block, unsigned instruction)
{
    for (unsigned i = 0; i < block->value_count; i++)
        if (block->values[i].instruction == instruction)
            return &block->values[i];
    return NULL;
}

/* Whether the entries have the value of the block's instruction, or rightly none. */
static bool has_value(const struct step *step, const struct block *block, unsigned number,
                      const uint32_t *entries)
{
    const struct value_slot *value = find_value(block, number);
    const struct decode_instruction *instruction = &step->instruction;
    const bool is_executed = instruction->kind == DECODE_STRAIGHT ||
                             instruction->kind == DECODE_RETURN ||
                             instruction->kind == DECODE_CONDITIONAL;
    struct data_flow flow;
    data_flow_of(&flow, instruction);
    if (!value || !flow.has_value || !is_executed)
        return !value && !(flow.has_value && is_executed);
    if (value->size != flow.value_size ||
        value->slot + (value->offset + value->size + 3u) / 4u > block->slots)
        return false;
    const uint8_t *bytes = (const uint8_t *)&entries[value->slot] + value->offset;
    for (unsigned i = 0; i < value->size && !defines_nothing(step); i++)
        if (bytes[i] != expected_byte(step, &flow, i))
            return false;
    met[flow.value.kind]++;
    return true;
}

static void print_instruction(const struct decode_instruction *instruction, const char *what)
{
    for (unsigned i = 0; i < instruction->size; i++)
        printf("%02x", instruction->bytes[i]);
    printf(" %s: %s\n", ZydisMnemonicGetString((ZydisMnemonic)instruction->mnemonic), what);
}

/* Compares the values of all executed instructions with the steps. */
static bool have_values(const struct exec_rig *rig, const struct step *steps, unsigned count)
{
    unsigned at = 0, number = 0;
    while (at < rig->entry_count && number < count) {
        const struct block *block =
            rig->part ? rig->part : code_cache_block(rig->cache, rig->entries[at]);
        const unsigned executed = rig->part ? rig->executed : block->instructions;
        for (unsigned i = 0; i < executed && number < count; i++, number++) {
            if (steps[number].instruction.address == block->address + block->pc_map[i].offset &&
                has_value(&steps[number], block, i, rig->entries + at))
                continue;
            print_instruction(&steps[number].instruction, "value");
            return false;
        }
        at += block->slots;
    }
    return number == count;
}

/* --- execution ---------------------------------------------------------------------------------
 */

/* Executes the step's instruction on the processor, from its `before` and the rig's data. */
static struct native_end step_natively(struct exec_rig *rig, struct step *step)
{
    uint8_t *code = rig->code + (step->before.rip - EXEC_RIG_CODE);
    memcpy(code, step->instruction.bytes, step->instruction.size);
    code[step->instruction.size] = INT3;
    step->after = step->before;
    const struct native_end end = native_run(&step->after, NULL, NULL);
    memcpy(step->memory, rig->data, sizeof step->memory);
    return end;
}

/* Executes the steps' code, which is in place, translated, and compares. */
static bool is_same_translated(struct exec_rig *rig, const struct step *steps, unsigned count,
                               const uint8_t *memory, const struct native_end *end)
{
    static struct machine machine;
    const struct step *last = &steps[count - 1];
    const bool ended = end->signal == SIGTRAP;
    memcpy(rig->data, memory, EXEC_RIG_DATA_BYTES);
    exec_rig_load(rig, &steps[0].before);
    rig->entry_count = 0;
    const struct executor_stop stop = exec_rig_run(rig);
    exec_rig_save(rig, &machine);
    const char *difference = machine_difference(&last->after, &machine);
    if (!difference && memcmp(rig->data, last->memory, sizeof last->memory) != 0)
        difference = "memory";
    if (!difference &&
        (ended ? stop.reason != EXECUTOR_TRAP
               : stop.reason != EXECUTOR_FAULT || stop.signal != end->signal ||
                     stop.code != end->code ||
                     (end->signal == SIGSEGV && stop.fault_address != end->fault_address)))
        difference = "end";
    if (difference)
        print_instruction(&last->instruction, difference);
    return !difference && (!ended || have_values(rig, steps, count));
}

/* Executes one instruction with the step's registers, both ways. */
static bool try_instruction(struct exec_rig *rig, struct step *step, const uint8_t *memory,
                            unsigned *ran)
{
    memcpy(rig->data, memory, EXEC_RIG_DATA_BYTES);
    const struct native_end end = step_natively(rig, step);
    *ran += end.signal == SIGTRAP;
    return is_same_translated(rig, step, 1, memory, &end);
}

/* --- random instructions -----------------------------------------------------------------------
 */

typedef void make_function(struct random_instruction *made, uint64_t *random, uint64_t address,
                           const struct region *region);

static bool try_random(struct exec_rig *rig, make_function *make, uint64_t *random,
                       uint64_t address, unsigned *ran)
{
    static uint8_t memory[EXEC_RIG_DATA_BYTES];
    static struct step step;
    struct random_instruction made;
    do {
        make(&made, random, address, &region);
        random_machine(&step.before, random);
        step.before.rip = address;
    } while (!random_instruction_place(&made, &step.before, random, &region));
    random_fill(random, memory + EXEC_RIG_DATA_BYTES / 4, EXEC_RIG_DATA_BYTES / 2);
    random_instruction_fill(&made, &step.before, random, memory, &region);
    decode(&step.instruction, made.bytes, sizeof made.bytes, address);
    return try_instruction(rig, &step, memory, ran);
}

/* Returns how many of them completed. */
static unsigned try_many(make_function *make, unsigned limit)
{
    struct exec_rig rig;
    unsigned ran = 0, failed = 0;
    uint64_t random = random_seed(limit);
    CU_ASSERT_FATAL(exec_rig_begin(&rig, EXEC_TRACE_VALUES, false, 0, 0));
    for (unsigned i = 0; i < limit && failed < 20; i++) {
        if (i % PLACES == 0)
            executor_invalidate(rig.executor, EXEC_RIG_CODE, EXEC_RIG_CODE + EXEC_RIG_CODE_BYTES);
        failed += !try_random(&rig, make, &random, EXEC_RIG_CODE + 64 * (i % PLACES), &ran);
    }
    CU_ASSERT_EQUAL(failed, 0);
    exec_rig_end(&rig);
    return ran;
}

static void test_random(void)
{
    const char *seeds = getenv("EXEC_SEEDS");
    unsigned limit = seeds ? (unsigned)atoi(seeds) : 20000;
    CU_ASSERT(try_many(random_instruction_make, limit) > limit / 2);
    CU_ASSERT(try_many(random_instruction_make_gather, 500) > 100 ||
              !__builtin_cpu_supports("avx2"));
    CU_ASSERT(try_many(random_instruction_make_pack, 500) > 100 ||
              !__builtin_cpu_supports("avx512f"));
}

static const struct test_case cases[] = {{"random instructions", test_random}, {NULL, NULL}};
TEST_SUITE_XSAVE(exec_values, cases)
