#include "tools/wet/slice/slice_code.h"

#include "formats/base/grow.h"

/* --- instructions ------------------------------------------------------------------------------
 */

/* Bits of the registers that a part stands for: any of x87, whose numbers depend on the top. */
static uint64_t bits_of(const struct slice_part *part)
{
    return part->is_x87 ? UINT64_C(0xff) << WET_X87 : slice_register_bit(part->reg);
}

/* Adds registers; returns their number. BT_MEMORY. */
static int add_parts(struct slice_code *code, const struct data_flow_part *parts, unsigned count)
{
    int added = 0;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].kind == DATA_FLOW_MEMORY)
            continue;
        struct slice_part *larger =
            grow_array(code->parts, &code->part_capacity, code->part_count + 1, sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        code->parts = larger;
        larger[code->part_count++] = (struct slice_part){
            .bytes = parts[i].bytes,
            .reg = parts[i].kind == DATA_FLOW_X87 ? parts[i].number & 7
                                                  : (uint8_t)wet_register_of(&parts[i], 0),
            .is_x87 = parts[i].kind == DATA_FLOW_X87,
            .is_conditional = parts[i].condition != DATA_FLOW_ALWAYS};
        added++;
    }
    return added;
}

static int describe_operation(struct slice_code *code, const struct wet_trace *trace, uint32_t id)
{
    const struct wet_flow *flow = &trace->flows.flows[id];
    struct slice_operation *to = &code->operations[id];
    to->first = (uint32_t)code->part_count;
    const int definitions =
        add_parts(code, wet_flows_definitions(&trace->flows, flow), flow->definition_count);
    const int reads = add_parts(code, wet_flows_ports(&trace->flows, flow), flow->port_count);
    if (definitions < 0 || reads < 0)
        return BT_MEMORY;
    to->definitions = (uint8_t)definitions;
    to->reads = (uint8_t)reads;
    to->memory_ports = flow->memory_ports;
    for (int i = 0; i < definitions; i++)
        to->defines |= bits_of(&code->parts[to->first + (uint32_t)i]);
    return 0;
}

static bool needs_top(const struct slice_code *code, const struct wet_flow *flow, uint32_t id)
{
    const struct slice_operation *operation = &code->operations[id];
    bool needs = flow->x87_pushes != 0 || flow->resets_x87;
    for (int i = 0; i < operation->definitions + operation->reads && !needs; i++)
        needs = code->parts[operation->first + (uint32_t)i].is_x87;
    return needs;
}

/* --- blocks ------------------------------------------------------------------------------------
 */

static void describe_block(struct slice_code *code, const struct wet_trace *trace, uint32_t number,
                           uint32_t *section)
{
    const struct wet_graph *graph = &trace->graph;
    const struct wet_block *block = &trace->file.code.blocks[number];
    const uint32_t *ids = wet_code_ids(&trace->file.code, number);
    const uint32_t last = ids[block->count - 1];
    struct slice_block *to = &code->blocks[number];
    to->first_section = *section;
    to->partition = graph->partitions[trace->file.code.instructions[ids[0]].function];
    to->kind = trace->flows.flows[last].kind;
    to->is_plain = to->kind != DECODE_CALL && to->kind != DECODE_CALL_INDIRECT &&
                   !graph->nodes[graph->node_of[last]].decides;
    for (uint32_t i = 0; i < block->count; i++) {
        const uint32_t node = graph->node_of[ids[i]];
        to->defines |= code->operations[ids[i]].defines;
        to->has_memory |= code->operations[ids[i]].memory_ports > 0;
        to->has_x87 |= needs_top(code, &trace->flows.flows[ids[i]], ids[i]);
        if (i > 0 && !graph->begins_node[ids[i]] && node == graph->node_of[ids[i - 1]])
            continue;
        code->sections[(*section)++] =
            (struct slice_section){.node = node,
                                   .position = (uint8_t)i,
                                   .begins = graph->begins_node[ids[i]],
                                   .is_endless = graph->nodes[node].is_endless};
        to->section_count++;
    }
}

/* Lists the registers that a block touches, each once. 0 or BT_MEMORY. */
static int list_touched(struct slice_code *code, const struct wet_code *from, uint32_t number)
{
    struct slice_block *to = &code->blocks[number];
    bool seen[WET_REGISTERS] = {false};
    uint8_t *larger =
        grow_array(code->touched, &code->touched_capacity, code->touched_count + WET_REGISTERS, 1);
    if (!larger)
        return BT_MEMORY;
    code->touched = larger;
    to->first_touched = (uint32_t)code->touched_count;
    to->is_regular = !to->has_x87;
    for (uint32_t i = 0; i < from->blocks[number].count; i++) {
        const struct slice_operation *one = &code->operations[wet_code_ids(from, number)[i]];
        to->memory |= (uint64_t)(one->memory_ports > 0) << i;
        for (int k = 0; k < one->definitions + one->reads; k++) {
            const struct slice_part *part = &code->parts[one->first + (uint32_t)k];
            to->is_regular &= !part->is_conditional && part->reg < 63;
            if (part->is_x87 || seen[part->reg])
                continue;
            seen[part->reg] = true;
            larger[code->touched_count++] = part->reg;
            to->touched_count++;
        }
    }
    return 0;
}

static void list_blocks(struct slice_code *code, const struct wet_code *from)
{
    uint32_t *first = code->first_block;
    for (size_t i = 0; i < from->id_count; i++)
        first[from->ids[i] + 1]++;
    for (size_t id = 0; id < from->instruction_count; id++)
        first[id + 1] += first[id];
    for (uint32_t number = 1; number < from->block_count; number++)
        for (uint32_t i = 0; i < from->blocks[number].count; i++) {
            const uint32_t at = first[wet_code_ids(from, number)[i]]++;
            code->blocks_of[at] = number;
            code->positions[at] = (uint8_t)i;
        }
    for (size_t id = from->instruction_count; id > 0; id--)
        first[id] = first[id - 1];
    first[0] = 0;
}

/* Whether instructions that end a block end all blocks that they are in. */
static bool find_ends(const struct slice_code *code, const struct wet_code *from)
{
    for (uint32_t number = 1; number < from->block_count; number++) {
        const uint32_t last = wet_code_ids(from, number)[from->blocks[number].count - 1];
        for (uint32_t i = code->first_block[last]; i < code->first_block[last + 1]; i++) {
            const uint32_t other = code->blocks_of[i];
            if (wet_code_ids(from, other)[from->blocks[other].count - 1] != last)
                return false;
        }
    }
    return true;
}

int slice_code_make(struct slice_code *code, const struct wet_trace *trace)
{
    const struct wet_code *from = &trace->file.code;
    uint32_t section = 0;
    *code = (struct slice_code){
        .blocks = calloc(from->block_count + 1, sizeof *code->blocks),
        .sections = malloc((from->id_count + 1) * sizeof *code->sections),
        .operations = calloc(from->instruction_count + 1, sizeof *code->operations),
        .first_block = calloc(from->instruction_count + 2, sizeof *code->first_block),
        .blocks_of = malloc((from->id_count + 1) * sizeof *code->blocks_of),
        .positions = malloc(from->id_count + 1)};
    if (!code->blocks || !code->sections || !code->operations || !code->first_block ||
        !code->blocks_of || !code->positions)
        return BT_MEMORY;
    for (uint32_t id = 1; id < from->instruction_count; id++)
        if (describe_operation(code, trace, id) < 0)
            return BT_MEMORY;
    for (uint32_t number = 1; number < from->block_count; number++) {
        describe_block(code, trace, number, &section);
        if (list_touched(code, from, number) < 0)
            return BT_MEMORY;
    }
    list_blocks(code, from);
    code->ends_are_ends = find_ends(code, from);
    return 0;
}

void slice_code_clear(struct slice_code *code)
{
    free(code->blocks);
    free(code->sections);
    free(code->operations);
    free(code->parts);
    free(code->first_block);
    free(code->blocks_of);
    free(code->positions);
    free(code->touched);
    *code = (struct slice_code){.blocks = NULL};
}
