#include "tools/depend/jump_table.h"

#include <string.h>

#define INSTRUCTIONS_MAX 64u /* of a node, from its begin on */

/* What the code before a jump tells. */
struct table {
    loop_flow_read *read;
    void *context;
    uint64_t base;      /* of the table; 0: not known */
    unsigned bytes;     /* of an entry; 8: an address, 4: a distance from the base */
    ZydisRegister from; /* register with the base of the table, if it is not set here */
    uint64_t count;     /* of entries; 0: not known */
};

static uint64_t instruction_end(const struct value_instruction *instruction)
{
    return instruction->address + instruction->decoded.length;
}

/* lea of an address that the code tells. */
static bool is_address(const struct value_instruction *instruction, uint64_t *address)
{
    const ZydisDecodedOperand *operand = &instruction->operands[1];
    if (instruction->decoded.mnemonic != ZYDIS_MNEMONIC_LEA ||
        operand->mem.base != ZYDIS_REGISTER_RIP)
        return false;
    *address = instruction_end(instruction) + (uint64_t)operand->mem.disp.value;
    return true;
}

/* A load or jump through [base + index * size]. */
static void note_access(struct table *table, const ZydisDecodedOperand *operand)
{
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM)
        return;
    if (operand->mem.scale == 8 && operand->mem.base == ZYDIS_REGISTER_NONE &&
        operand->size == 64) {
        table->base = (uint64_t)operand->mem.disp.value;
        table->bytes = 8;
    } else if (operand->size == 32 && operand->mem.index != ZYDIS_REGISTER_NONE &&
               operand->mem.disp.value == 0 && operand->mem.base != ZYDIS_REGISTER_RBP) {
        table->bytes = 4;
        table->from = operand->mem.base;
    }
}

/* The code of the jump's node. */
static void look_at_node(struct table *table, const struct code_node *node)
{
    struct value_instruction instruction;
    uint64_t address = node->start, lea;
    for (unsigned i = 0; i < INSTRUCTIONS_MAX && address < node->end &&
                         loop_flow_decode(table->read, table->context, address, &instruction);
         i++) {
        if (is_address(&instruction, &lea))
            table->base = lea;
        for (unsigned k = 0; k < instruction.decoded.operand_count_visible; k++)
            note_access(table, &instruction.operands[k]);
        address = instruction_end(&instruction);
    }
}

/* The only address that code of the function puts into the register of the table's base. */
static void find_base(struct table *table, const struct code_walk *walk)
{
    bool is_unique = true;
    for (uint32_t i = 0; i < walk->instruction_count; i++) {
        struct value_instruction instruction;
        uint64_t lea;
        if (!loop_flow_decode(table->read, table->context, walk->addresses[i], &instruction) ||
            !is_address(&instruction, &lea) || instruction.operands[0].reg.value != table->from)
            continue;
        is_unique = is_unique && (table->base == 0 || table->base == lea);
        table->base = lea;
    }
    if (!is_unique)
        table->base = 0;
}

/* The comparison before the jump: cmp index, greatest; ja elsewhere. */
static void find_count(struct table *table, const struct code_walk *walk, uint32_t node)
{
    struct value_instruction instruction;
    const uint32_t first = walk->graph.first_predecessor[node];
    if (walk->graph.first_predecessor[node + 1] - first != 1)
        return;
    const struct code_node *before = &walk->nodes[walk->graph.predecessors[first]];
    uint64_t address = before->start, greatest = 0;
    bool is_compared = false;
    while (address < before->end &&
           loop_flow_decode(table->read, table->context, address, &instruction)) {
        address = instruction_end(&instruction);
        if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_JNBE && is_compared)
            table->count = walk->nodes[node].start == address ? greatest + 1 : 0;
        if (instruction.decoded.mnemonic != ZYDIS_MNEMONIC_CMP)
            continue;
        is_compared = instruction.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        greatest = is_compared ? instruction.operands[1].imm.value.u : 0;
    }
}

static bool read_entry(const struct table *table, uint64_t number, uint64_t *target)
{
    const uint8_t *bytes;
    int32_t distance;
    if (table->read(table->context, table->base + number * table->bytes, &bytes) < table->bytes)
        return false;
    if (table->bytes == 8) {
        memcpy(target, bytes, sizeof *target);
        return true;
    }
    memcpy(&distance, bytes, sizeof distance);
    *target = table->base + (uint64_t)(int64_t)distance;
    return true;
}

unsigned jump_table_read(const struct code_walk *walk, uint32_t node, loop_flow_read *read,
                         void *context, uint64_t targets[JUMP_TABLE_MAX])
{
    struct table table = {.read = read, .context = context};
    look_at_node(&table, &walk->nodes[node]);
    if (table.base == 0 && table.bytes == 4)
        find_base(&table, walk);
    find_count(&table, walk, node);
    if (table.base == 0 || table.bytes == 0 || table.count == 0 || table.count > JUMP_TABLE_MAX)
        return 0;
    for (uint64_t i = 0; i < table.count; i++)
        if (!read_entry(&table, i, &targets[i]))
            return 0;
    return (unsigned)table.count;
}
