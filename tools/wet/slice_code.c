#include "tools/wet/slice_code.h"

#include "tools/wet/wet_registers.h"

/* Bits of the registers that a part stands for: any of x87, whose numbers depend on the top. */
static uint64_t bits_of(const struct data_flow_part *part)
{
    if (part->kind == DATA_FLOW_MEMORY)
        return 0;
    if (part->kind == DATA_FLOW_X87)
        return UINT64_C(0xff) << WET_X87;
    return slice_register_bit(wet_register_of(part, 0));
}

static bool needs_top(const struct wet_flows *flows, const struct wet_flow *flow)
{
    const struct data_flow_part *parts = wet_flows_ports(flows, flow);
    bool needs = flow->x87_pushes != 0 || flow->resets_x87;
    for (unsigned i = 0; i < flow->port_count + flow->definition_count && !needs; i++)
        needs = parts[i].kind == DATA_FLOW_X87;
    return needs;
}

static void describe(struct slice_code *code, const struct wet_trace *trace, uint32_t number,
                     uint32_t *part)
{
    const struct wet_block *block = &trace->file.code.blocks[number];
    const uint32_t *ids = wet_code_ids(&trace->file.code, number);
    struct slice_block *to = &code->blocks[number];
    to->first_part = *part;
    for (uint32_t i = 0; i < block->count; i++) {
        const struct wet_flow *flow = &trace->flows.flows[ids[i]];
        const struct data_flow_part *definitions = wet_flows_definitions(&trace->flows, flow);
        for (unsigned d = 0; d < flow->definition_count; d++)
            to->defines |= bits_of(&definitions[d]);
        to->has_x87 |= needs_top(&trace->flows, flow);
        if (i == 0 || trace->graph.begins_node[ids[i]] ||
            trace->graph.node_of[ids[i]] != trace->graph.node_of[ids[i - 1]]) {
            code->parts[(*part)++] = (uint8_t)i;
            to->part_count++;
        }
    }
}

static void list_blocks(struct slice_code *code, const struct wet_code *from)
{
    uint32_t *first = code->first_block;
    for (size_t i = 0; i < from->id_count; i++)
        first[from->ids[i] + 1]++;
    for (size_t id = 0; id < from->instruction_count; id++)
        first[id + 1] += first[id];
    for (uint32_t number = 1; number < from->block_count; number++)
        for (uint32_t i = 0; i < from->blocks[number].count; i++)
            code->blocks_of[first[wet_code_ids(from, number)[i]]++] = number;
    for (size_t id = from->instruction_count; id > 0; id--)
        first[id] = first[id - 1];
    first[0] = 0;
}

int slice_code_make(struct slice_code *code, const struct wet_trace *trace)
{
    const struct wet_code *from = &trace->file.code;
    uint32_t part = 0;
    *code = (struct slice_code){
        .blocks = calloc(from->block_count + 1, sizeof *code->blocks),
        .parts = malloc(from->id_count + 1),
        .first_block = calloc(from->instruction_count + 2, sizeof *code->first_block),
        .blocks_of = malloc((from->id_count + 1) * sizeof *code->blocks_of)};
    if (!code->blocks || !code->parts || !code->first_block || !code->blocks_of)
        return BT_MEMORY;
    for (uint32_t number = 1; number < from->block_count; number++)
        describe(code, trace, number, &part);
    list_blocks(code, from);
    return 0;
}

void slice_code_clear(struct slice_code *code)
{
    free(code->blocks);
    free(code->parts);
    free(code->first_block);
    free(code->blocks_of);
    *code = (struct slice_code){.blocks = NULL};
}
