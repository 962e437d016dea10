#include "tools/dcfg/graph/unknown_code.h"

#include "formats/dcfg/dcfg_edge_type.h"

#include <stdlib.h>

/* What is known of a block. */
enum note {
    NOTE_FALLS = 1,     /* the next instruction followed its last one */
    NOTE_BRANCHES = 2,  /* an edge out of it is a BRANCH */
    NOTE_SEVERAL = 4,   /* more than one is */
    NOTE_CALLS = 8,     /* its last instruction is a call */
    NOTE_RETURNS = 16,  /* its last instruction is a return */
    NOTE_SITE = 32,     /* follows a call */
    NOTE_RETURNED = 64, /* a return leads to it */
};

struct unknown_code {
    uint8_t *types; /* enum dcfg_edge_type, by edge */
    const struct flow_graph *graph;
    uint8_t *notes; /* enum note, by block */
};

/* An edge between two blocks, of a type. */
static bool is_edge(const struct unknown_code *code, size_t e, uint8_t type)
{
    const struct flow_edge *edge = &code->graph->edges[e];
    return code->types[e] == type && edge->source != FLOW_START && edge->target != FLOW_END;
}

static void note_edges(struct unknown_code *code)
{
    for (size_t e = 0; e < code->graph->edge_count; e++) {
        const struct flow_edge *edge = &code->graph->edges[e];
        if (edge->source == FLOW_START || edge->target == FLOW_END)
            continue;
        uint8_t *source = &code->notes[edge->source];
        if (edge->kind == FLOW_NEXT)
            *source |= NOTE_FALLS;
        if (code->types[e] == DCFG_EDGE_BRANCH)
            *source |= *source & NOTE_BRANCHES ? NOTE_SEVERAL : NOTE_BRANCHES;
        else if (dcfg_edge_type_is_call(code->types[e]))
            *source |= NOTE_CALLS;
        else if (code->types[e] == DCFG_EDGE_RETURN)
            code->notes[edge->target] |= NOTE_RETURNED;
    }
}

/* The notes of all blocks at the address after a block; adds notes to them. */
static uint8_t note_next(struct unknown_code *code, uint32_t block, uint8_t add)
{
    const struct flow_graph *graph = code->graph;
    uint8_t notes = 0;
    uint64_t address = graph->blocks[block].address + graph->blocks[block].size;
    for (uint32_t b = flow_find_block(graph, address);
         b < graph->block_count && graph->blocks[b].address == address; b++)
        notes |= code->notes[b] |= add;
    return notes;
}

static void find_returns(struct unknown_code *code)
{
    const struct flow_graph *graph = code->graph;
    for (uint32_t b = 0; b < graph->block_count; b++)
        if (code->notes[b] & NOTE_CALLS)
            note_next(code, b, NOTE_SITE);
    for (size_t e = 0; e < graph->edge_count; e++)
        if (is_edge(code, e, DCFG_EDGE_BRANCH) &&
            (code->notes[graph->edges[e].target] & NOTE_SITE) &&
            !(code->notes[graph->edges[e].source] & NOTE_FALLS))
            code->notes[graph->edges[e].source] |= NOTE_RETURNS;
}

static void find_calls(struct unknown_code *code)
{
    const struct flow_graph *graph = code->graph;
    for (size_t e = 0; e < graph->edge_count; e++)
        if (is_edge(code, e, DCFG_EDGE_BRANCH) &&
            (code->notes[graph->edges[e].source] & NOTE_RETURNS))
            code->notes[graph->edges[e].target] |= NOTE_RETURNED;
    for (uint32_t b = 0; b < graph->block_count; b++)
        if ((code->notes[b] & (NOTE_BRANCHES | NOTE_FALLS | NOTE_RETURNS)) == NOTE_BRANCHES &&
            (note_next(code, b, 0) & NOTE_RETURNED))
            code->notes[b] |= NOTE_CALLS;
}

/* A conditional branch has one target, at a distance of 8 or 32 bits; a chunk of a bus has another
 * size. An instruction that follows itself may be a REP. */
static bool is_conditional(const struct unknown_code *code, const struct flow_edge *edge)
{
    enum { SHORT_BYTES = 2, NEAR_BYTES = 6 };
    const struct flow_block *source = &code->graph->blocks[edge->source];
    uint32_t target = code->graph->blocks[edge->target].address;
    uint32_t last = source->address + source->last_offset;
    bool is_short =
        source->last_size == SHORT_BYTES && target - (last + SHORT_BYTES) + 0x80u < 0x100u;
    return (code->notes[edge->source] & (NOTE_FALLS | NOTE_SEVERAL)) == NOTE_FALLS &&
           (is_short || source->last_size == NEAR_BYTES) && target != last;
}

static enum dcfg_edge_type type_of(const struct unknown_code *code, const struct flow_edge *edge,
                                   enum unknown_branches unknown)
{
    const uint8_t notes = code->notes[edge->source];
    const bool indirect = unknown == UNKNOWN_BRANCHES_INDIRECT;
    if (notes & NOTE_RETURNS)
        return DCFG_EDGE_RETURN;
    if (notes & NOTE_CALLS)
        return indirect || (notes & NOTE_SEVERAL) ? DCFG_EDGE_INDIRECT_CALL : DCFG_EDGE_CALL;
    if (is_conditional(code, edge))
        return DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH;
    if (!indirect)
        return DCFG_EDGE_BRANCH;
    return notes & NOTE_FALLS ? DCFG_EDGE_INDIRECT_CONDITIONAL_BRANCH
                              : DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH;
}

int unknown_code_types(uint8_t *types, const struct flow_graph *graph,
                       enum unknown_branches unknown)
{
    struct unknown_code code = {.types = types, .graph = graph};
    code.notes = calloc(graph->block_count + 1, sizeof *code.notes);
    if (!code.notes)
        return BT_MEMORY;
    note_edges(&code);
    find_returns(&code);
    find_calls(&code);
    for (size_t e = 0; e < graph->edge_count; e++)
        if (is_edge(&code, e, DCFG_EDGE_BRANCH))
            types[e] = (uint8_t)type_of(&code, &graph->edges[e], unknown);
    free(code.notes);
    return 0;
}
