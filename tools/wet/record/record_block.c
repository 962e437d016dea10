#include "tools/wet/record/record_block.h"

#include "capture/exec/translate/outcome.h"

#include <string.h>

#define REFERENCE_BYTES 64u /* larger accesses are several references */

/* The block that is being made. */
struct making {
    struct record_code *code;
    const struct block *block;
    const uint8_t *text;
    struct record_block *made;
    uint32_t *by_record;      /* numbers of records' operations, plus 1 */
    unsigned record, special; /* numbers of the next ones */
    unsigned instruction;
    uint32_t id;
    uint32_t ids[WET_BLOCK_IDS];
    struct {
        uint16_t slot;
        uint32_t mask; /* 0: it is always true */
        bool is_zero;  /* true if entry & mask is 0 */
    } outcomes[WET_BLOCK_IDS];
    struct decode_instruction decoded;
};

static uint64_t address_of(const struct block *block, const struct record *fetch)
{
    return block->address + (uint32_t)(fetch->address - (uint32_t)block->address);
}

size_t record_block_text(const struct block *block)
{
    size_t size = 0;
    for (unsigned i = 0; i < block->record_count; i++) {
        const struct record *record = &block->records[i];
        const size_t end = (size_t)(address_of(block, record) - block->address) + record->size;
        if (record->type == REQUEST_FETCH && end > size)
            size = end;
    }
    return size;
}

/* --- operations --------------------------------------------------------------------------------
 */

static struct record_operation *add(struct making *making, enum record_operation_kind kind)
{
    struct record_operation *operation = &making->made->operations[making->made->operation_count++];
    *operation = (struct record_operation){.kind = (uint8_t)kind, .id = making->id};
    return operation;
}

/* The port of the instruction's read with a number. */
static struct record_port *port_of(const struct making *making, unsigned operand)
{
    const struct record_code *code = making->code;
    return operand < code->flows.flows[making->id].memory_ports
               ? record_ports_get(&code->ports, code->instructions[making->id].port + operand)
               : NULL;
}

static struct record_outcome *outcome_of_instruction(const struct making *making)
{
    const struct record_code *code = making->code;
    return record_ports_outcome(&code->ports, code->instructions[making->id].outcome);
}

static bool has_record(const struct making *making)
{
    return making->record < making->block->record_count &&
           making->block->records[making->record].type != REQUEST_FETCH;
}

/* Whether the next special is of the current instruction. */
static bool has_special(const struct making *making)
{
    return making->special < making->block->special_count &&
           making->block->specials[making->special].record <= making->record;
}

/* A plain access is one record, or several if it is large. */
static void add_plain(struct making *making, const struct decode_access *access, bool is_write,
                      struct record_port *port)
{
    const unsigned records = (access->size + REFERENCE_BYTES - 1) / REFERENCE_BYTES;
    for (unsigned i = 0; i < records && has_record(making); i++) {
        const struct record *record = &making->block->records[making->record];
        struct record_operation *operation = add(making, is_write          ? RECORD_WRITE
                                                         : i + 1 < records ? RECORD_READ_PART
                                                                           : RECORD_READ);
        operation->size = record->size;
        operation->addend = record->address;
        operation->port = port;
        making->by_record[making->record++] = making->made->operation_count;
    }
}

static void add_access(struct making *making, const struct decode_access *access, bool is_write,
                       unsigned operand)
{
    const uint32_t before = making->made->operation_count;
    struct record_port *port = is_write ? NULL : port_of(making, operand);
    if (access->form == DECODE_PLAIN) {
        add_plain(making, access, is_write, port);
    } else if (has_special(making)) {
        struct record_operation *operation = add(making, RECORD_SPECIAL);
        operation->slot = (uint16_t)making->special++;
        operation->port = port;
    }
    if (!is_write && making->made->operation_count == before)
        add(making, RECORD_READ_NOTHING)->port = port;
}

/* Reads in their order, then writes. */
static void add_accesses(struct making *making)
{
    const struct decode_instruction *decoded = &making->decoded;
    for (int is_write = 0; is_write < 2; is_write++) {
        unsigned operand = 0;
        for (unsigned i = 0; i < decoded->access_count; i++) {
            const struct decode_access *access = &decoded->accesses[i];
            if (is_write ? access->write : access->read)
                add_access(making, access, is_write, operand++);
        }
    }
}

static void add_repeated(struct making *making)
{
    struct record_port *first = port_of(making, 0), *second = port_of(making, 1);
    struct record_operation *operation = add(making, RECORD_REPEATED);
    const uint16_t special = (uint16_t)making->special++;
    operation->slot = special;
    operation->port = first;
    add(making, RECORD_SECOND)->port = second;
    if (!making->code->flows.flows[making->id].has_outcome)
        return;
    operation = add(making, RECORD_OUTCOME); /* the count before */
    operation->slot = making->block->specials[special].slot;
    operation->mask = UINT32_MAX;
    operation->outcome = outcome_of_instruction(making);
    making->outcomes[making->instruction].slot = operation->slot;
    making->outcomes[making->instruction].mask = operation->mask;
}

static void add_outcome(struct making *making)
{
    const struct block *block = making->block;
    unsigned at = 0;
    if (!making->code->flows.flows[making->id].has_outcome)
        return;
    while (at < block->outcome_count && block->outcomes[at].instruction != making->instruction)
        at++;
    struct record_operation *operation =
        add(making, at < block->outcome_count ? RECORD_OUTCOME : RECORD_TRUE);
    operation->outcome = outcome_of_instruction(making);
    if (at == block->outcome_count)
        return;
    operation->slot = block->outcomes[at].slot;
    operation->mask = block->outcomes[at].mask;
    making->outcomes[making->instruction].slot = operation->slot;
    making->outcomes[making->instruction].mask = operation->mask;
    if (outcome_of(&making->decoded).kind != OUTCOME_ZERO_FLAG)
        return;
    operation->kind = RECORD_ZERO_OUTCOME; /* they define if ZF is 0 */
    making->outcomes[making->instruction].is_zero = true;
}

/* Gives the references of records their addresses. */
static void patch(const struct making *making)
{
    const struct block *block = making->block;
    struct record_operation *operations = making->made->operations;
    for (unsigned i = 0; i < block->patch_count; i++) {
        const uint32_t number = making->by_record[block->patches[i].record];
        if (number == 0)
            continue;
        operations[number - 1].slot = block->patches[i].slot;
        operations[number - 1].mask = UINT32_MAX;
        operations[number - 1].addend = block->patches[i].addend;
    }
    for (unsigned i = 0; i < block->through_fs_count; i++) {
        const uint32_t number = making->by_record[block->through_fs[i]];
        if (number == 0)
            continue;
        uint8_t *kind = &operations[number - 1].kind;
        *kind = *kind == RECORD_WRITE  ? RECORD_WRITE_THROUGH_FS
                : *kind == RECORD_READ ? RECORD_READ_THROUGH_FS
                                       : RECORD_READ_PART_THROUGH_FS;
    }
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* The next instruction; its fetch is the next record. */
static int add_instruction(struct making *making, struct bt_error *error)
{
    const struct block *block = making->block;
    const struct record *fetch = &block->records[making->record++];
    const uint64_t address = address_of(block, fetch);
    const uint8_t *bytes = making->text + (address - block->address);
    const int64_t id = record_code_instruction(making->code, address, bytes, fetch->size, error);
    if (id < 0)
        return (int)id;
    making->id = making->ids[making->instruction] = (uint32_t)id;
    decode(&making->decoded, bytes, fetch->size, address);
    if (making->decoded.repeated && has_special(making)) {
        add_repeated(making);
    } else {
        add_outcome(making);
        add_accesses(making);
    }
    while (has_record(making)) /* none: all were its accesses */
        making->record++;
    while (has_special(making))
        making->special++;
    making->instruction++;
    return 0;
}

static void add_runs(struct making *making)
{
    struct record_block *made = making->made;
    for (unsigned i = 0; i < making->instruction; i++) {
        struct record_ids *run = &made->runs[made->run_count];
        if (made->run_count > 0 && run[-1].first + run[-1].count == making->ids[i])
            run[-1].count++;
        else
            made->runs[made->run_count++] =
                (struct record_ids){.first = making->ids[i], .count = 1};
    }
}

/* The entries of an instruction's value. */
static struct record_value describe_value(const struct making *making, unsigned instruction,
                                          struct value_rule *rule)
{
    const struct block *block = making->block;
    const uint32_t id = making->ids[instruction];
    const struct wet_instruction *code = &making->code->code.instructions[id];
    struct record_value value = {.rule = rule, .is_constant = true};
    unsigned at = 0;
    while (at < block->value_count && block->values[at].instruction != instruction)
        at++;
    if (at < block->value_count) {
        const struct value_slot *slot = &block->values[at];
        value.is_constant = false;
        value.slot = slot->slot;
        value.offset = slot->offset;
        value.is_last = slot->slot * sizeof(uint32_t) + slot->offset + sizeof(uint64_t) >
                        block->slots * sizeof(uint32_t);
    } else if (rule->operation == VALUE_CALL) {
        value.constant = code->address + code->size;
    }
    if (!making->code->flows.flows[id].value_is_outcome)
        return value;
    value.outcome_slot = making->outcomes[instruction].slot;
    value.outcome_mask = making->outcomes[instruction].mask;
    value.is_zero_outcome = making->outcomes[instruction].is_zero;
    return value;
}

static int add_values(struct making *making, uint32_t number)
{
    struct record_values *values = making->code->values;
    struct record_block *made = making->made;
    struct value_rule *rules = record_values_rules(values, &making->code->code, number);
    made->values = rules ? malloc(making->instruction * sizeof *made->values) : NULL;
    if (!made->values)
        return BT_MEMORY;
    for (unsigned i = 0; i < making->instruction; i++)
        if (!value_rule_is_empty(&rules[i]))
            made->values[made->value_count++] = describe_value(making, i, &rules[i]);
    return 0;
}

static int add_all(struct making *making, unsigned instructions, struct bt_error *error)
{
    int result = 0;
    while (making->instruction < instructions && result == 0) {
        if (making->record >= making->block->record_count)
            return bt_fail(error, BT_USAGE, "a block of the program at 0x%llx has no instructions",
                           (unsigned long long)making->block->address);
        result = add_instruction(making, error);
    }
    if (result < 0)
        return result;
    patch(making);
    add_runs(making);
    const int64_t number = record_code_block(making->code, making->ids, instructions, error);
    if (number < 0)
        return (int)number;
    if (making->code->values && add_values(making, (uint32_t)number) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's values");
    making->made->number = (uint32_t)number + WET_FIRST_BLOCK - 1;
    making->made->first_id = making->ids[0];
    making->made->last_id = making->id;
    making->made->ends_with_call = making->code->flows.flows[making->id].kind == DECODE_SYSTEM_CALL;
    return 0;
}

struct record_block *record_block_new(struct record_code *code, const struct block *block,
                                      unsigned instructions, const uint8_t *text,
                                      struct bt_error *error)
{
    const size_t operations =
        (size_t)block->record_count + 3u * block->special_count + 4u * instructions;
    const size_t runs_at =
        sizeof(struct record_block) + operations * sizeof(struct record_operation);
    struct record_block *made = malloc(runs_at + instructions * sizeof(struct record_ids));
    struct making making = {.code = code,
                            .block = block,
                            .text = text,
                            .made = made,
                            .by_record =
                                calloc((size_t)block->record_count + 1, sizeof *making.by_record)};
    const bool is_begun = made && making.by_record;
    int result = BT_MEMORY;
    if (is_begun) {
        *made = (struct record_block){
            .slots = block->slots, .instruction_count = (uint16_t)instructions, .block = block};
        made->runs = (struct record_ids *)(void *)((uint8_t *)made + runs_at);
        result = add_all(&making, instructions, error);
    } else {
        bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    }
    free(making.by_record);
    if (result == 0)
        return made;
    if (is_begun)
        free(made->values);
    free(made);
    return NULL;
}

void record_block_free(struct record_block *block)
{
    while (block) {
        struct record_block *parts = block->parts;
        if (parts) {
            block->parts = parts->next;
            record_block_free(parts);
        } else {
            free(block->values);
            free(block);
            block = NULL;
        }
    }
}
