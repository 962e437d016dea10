#include "tools/dcfg/graph/edge_types.h"

#include "formats/base/grow.h"
#include "formats/dcfg/dcfg_edge_type.h"

#include <stdlib.h>

/* --- where blocks end --- */

/* The instruction that was fetched, if the image has the same one. */
static bool fetched_instruction(const struct images *images, uint32_t address, uint8_t size,
                                struct image_instruction *instruction)
{
    return images_instruction(images, address, instruction) && instruction->size == size;
}

void edge_types_end_blocks(struct flow *flow, const struct images *images,
                           struct image_matches *matches)
{
    uint32_t at = 0;
    uint32_t address;
    uint8_t size;
    *matches = (struct image_matches){.instructions = 0};
    while (flow_next_instruction(flow, &at, &address, &size)) {
        struct image_instruction instruction;
        uint32_t image = images_find(images, address);
        matches->instructions++;
        if (size == 0 && images_instruction(images, address, &instruction)) {
            size = instruction.size;
            flow_set_size(flow, at, size);
        }
        if (images_find(images, (uint64_t)address + size) != image)
            flow_end_block(flow, at);
        if (image == IMAGE_NONE)
            matches->outside++;
        else if (!fetched_instruction(images, address, size, &instruction))
            matches->different++;
        else if (instruction.branch != IMAGE_PLAIN && instruction.branch != IMAGE_REPEAT)
            flow_end_block(flow, at);
    }
}

/* --- types of edges --- */

struct edge_typing {
    struct edge_types *types;
    const struct flow_graph *graph;
    const struct images *images;
    uint8_t *endings; /* by block: enum ending, of its last instruction */
    uint8_t *entered; /* by block: bits of enum entered */
    uint32_t *first;  /* by block: its first edge; edges are in order of sources */
    size_t bypass_capacity;
};

/* The kinds of returns that enter a block. */
enum entered { ENTERED_RETURN = 1, ENTERED_SYSTEM_RETURN = 2, ENTERED_CONTEXT_RETURN = 4 };

/* The calls that leave a block. */
enum ending {
    ENDING_CALLS = 1,          /* a call was taken */
    ENDING_CALLS_SYSTEM = 2,   /* a system call was taken */
    ENDING_CHANGES_CONTEXT = 4 /* a change of context was seen */
};

static uint64_t block_end(const struct flow_graph *graph, uint32_t block)
{
    return graph->blocks[block].address + graph->blocks[block].size;
}

/* A jump or call with a known target. Any other target: something interrupted it. */
static enum dcfg_edge_type direct(bool taken, enum dcfg_edge_type type)
{
    return taken ? type : DCFG_EDGE_CONTEXT_CHANGE;
}

static enum dcfg_edge_type type_by_instruction(const struct image_instruction *instruction,
                                               const struct flow_block *source, uint32_t target,
                                               bool next)
{
    bool taken = target == instruction->target;
    switch (instruction->branch) {
    case IMAGE_CONDITIONAL:
        return next ? DCFG_EDGE_FALL_THROUGH : direct(taken, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH);
    case IMAGE_JUMP:
        return direct(taken, DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH);
    case IMAGE_INDIRECT_JUMP:
        return DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH;
    case IMAGE_CALL:
        return next && !taken ? DCFG_EDGE_CALL_BYPASS : direct(taken, DCFG_EDGE_DIRECT_CALL);
    case IMAGE_INDIRECT_CALL:
        return next ? DCFG_EDGE_CALL_BYPASS : DCFG_EDGE_INDIRECT_CALL;
    case IMAGE_RETURN:
        return DCFG_EDGE_RETURN;
    case IMAGE_SYSTEM_CALL: /* the kernel may restart it */
        return next || target == source->address + source->last_offset
                   ? DCFG_EDGE_SYSTEM_CALL_BYPASS
                   : DCFG_EDGE_SYSTEM_CALL;
    case IMAGE_SYSTEM_RETURN:
        return DCFG_EDGE_SYSTEM_RETURN;
    case IMAGE_CONTEXT_RETURN:
        return DCFG_EDGE_CONTEXT_CHANGE_RETURN;
    case IMAGE_REPEAT:
        if (target == source->address + source->last_offset)
            return DCFG_EDGE_REP;
        break;
    default:
        break;
    }
    return next ? DCFG_EDGE_FALL_THROUGH : DCFG_EDGE_CONTEXT_CHANGE;
}

static enum dcfg_edge_type type_of(const struct edge_typing *finding, const struct flow_edge *edge)
{
    struct image_instruction instruction;
    switch (edge->kind) {
    case FLOW_ENTRY:
        return DCFG_EDGE_ENTRY;
    case FLOW_EXIT:
        return DCFG_EDGE_EXIT;
    case FLOW_SIGNAL:
        return DCFG_EDGE_CONTEXT_CHANGE;
    case FLOW_SIGNAL_RETURN:
        return DCFG_EDGE_CONTEXT_CHANGE_RETURN;
    case FLOW_UNKNOWN:
        return DCFG_EDGE_UNKNOWN;
    default:
        break;
    }
    const struct flow_block *source = &finding->graph->blocks[edge->source];
    bool next = edge->kind == FLOW_NEXT;
    if (fetched_instruction(finding->images, source->address + source->last_offset,
                            source->last_size, &instruction))
        return type_by_instruction(&instruction, source,
                                   finding->graph->blocks[edge->target].address, next);
    return next ? DCFG_EDGE_FALL_THROUGH : DCFG_EDGE_BRANCH;
}

/* Records the type of an edge at both of its ends. */
static void note_edge(struct edge_typing *finding, size_t e)
{
    const struct flow_edge *edge = &finding->graph->edges[e];
    uint8_t type = finding->types->types[e];
    if (edge->source == FLOW_START || edge->target == FLOW_END || edge->kind == FLOW_SIGNAL ||
        edge->kind == FLOW_SIGNAL_RETURN) /* their bypasses are the flow's resumptions */
        return;
    if (dcfg_edge_type_is_call(type))
        finding->endings[edge->source] |= ENDING_CALLS;
    else if (type == DCFG_EDGE_SYSTEM_CALL)
        finding->endings[edge->source] |= ENDING_CALLS_SYSTEM;
    else if (type == DCFG_EDGE_CONTEXT_CHANGE)
        finding->endings[edge->source] |= ENDING_CHANGES_CONTEXT;
    else if (type == DCFG_EDGE_RETURN)
        finding->entered[edge->target] |= ENTERED_RETURN;
    else if (type == DCFG_EDGE_SYSTEM_RETURN)
        finding->entered[edge->target] |= ENTERED_SYSTEM_RETURN;
    else if (type == DCFG_EDGE_CONTEXT_CHANGE_RETURN)
        finding->entered[edge->target] |= ENTERED_CONTEXT_RETURN;
}

/* Addresses to which control may return after a block: the next instruction, or the target of an
 * interrupted jump. Returns their number. */
static unsigned resumptions(const struct edge_typing *finding, uint32_t b, uint64_t addresses[2])
{
    const struct flow_block *block = &finding->graph->blocks[b];
    struct image_instruction instruction;
    addresses[0] = block_end(finding->graph, b);
    if (!(finding->endings[b] & ENDING_CHANGES_CONTEXT) ||
        !fetched_instruction(finding->images, block->address + block->last_offset, block->last_size,
                             &instruction) ||
        (instruction.branch != IMAGE_CONDITIONAL && instruction.branch != IMAGE_JUMP &&
         instruction.branch != IMAGE_CALL) ||
        instruction.target == addresses[0])
        return 1;
    addresses[1] = instruction.target;
    return 2;
}

/*
 * Finds returns in disguise: a return from a signal by a system call, to the interrupted
 * instruction or to the interrupted system call; and an IRET that ends a system call. returns[b]
 * becomes the endings of the blocks after which control may return to block b.
 */
static void find_hidden_returns(struct edge_typing *finding, uint8_t *returns)
{
    const struct flow_graph *graph = finding->graph;
    for (uint32_t b = 0; b < graph->block_count; b++) {
        uint64_t addresses[2];
        unsigned count = finding->endings[b] != 0 ? resumptions(finding, b, addresses) : 0;
        for (unsigned i = 0; i < count; i++)
            for (uint32_t n = flow_find_block(graph, addresses[i]);
                 n < graph->block_count && graph->blocks[n].address == addresses[i]; n++)
                returns[n] |= finding->endings[b];
        if (graph->blocks[b].instructions == 1)
            returns[b] |=
                finding->endings[b]; /* executed again: a fault, or a restarted system call */
    }
    for (size_t e = 0; e < graph->edge_count; e++) {
        const struct flow_edge *edge = &graph->edges[e];
        uint8_t *type = &finding->types->types[e];
        if (edge->target == FLOW_END || edge->kind == FLOW_SIGNAL_RETURN)
            continue;
        bool interrupted = returns[edge->target] & ENDING_CHANGES_CONTEXT;
        bool called = returns[edge->target] & ENDING_CALLS_SYSTEM;
        if (*type == DCFG_EDGE_SYSTEM_CALL && interrupted)
            *type = DCFG_EDGE_CONTEXT_CHANGE_RETURN;
        else if ((*type == DCFG_EDGE_SYSTEM_CALL || *type == DCFG_EDGE_CONTEXT_CHANGE_RETURN) &&
                 !interrupted && called)
            *type = DCFG_EDGE_SYSTEM_RETURN;
    }
}

/* --- bypasses --- */

static bool has_edge(const struct edge_typing *finding, uint32_t source, uint32_t target)
{
    const struct flow_edge *edges = finding->graph->edges;
    uint32_t low = finding->first[source];
    uint32_t high = finding->first[source + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (edges[middle].target < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low < finding->first[source + 1] && edges[low].target == target;
}

static int add_bypass(struct edge_typing *finding, uint32_t source, uint32_t target,
                      enum dcfg_edge_type type)
{
    struct edge_types *types = finding->types;
    if (has_edge(finding, source, target))
        return 0;
    struct edge_bypass *rows = grow_array(types->bypasses, &finding->bypass_capacity,
                                          types->bypass_count + 1, sizeof *rows);
    if (!rows)
        return BT_MEMORY;
    types->bypasses = rows;
    rows[types->bypass_count++] =
        (struct edge_bypass){.source = source, .target = target, .type = (uint8_t)type};
    return 0;
}

/* The bypass from a block to one that control may return to, if it left there and returned here.
 * next: the target follows the source in memory. */
static int bypass(struct edge_typing *finding, uint32_t source, uint32_t target, bool next)
{
    uint8_t ending = finding->endings[source];
    uint8_t entered = finding->entered[target];
    if (next && (ending & ENDING_CALLS) && (entered & ENTERED_RETURN))
        return add_bypass(finding, source, target, DCFG_EDGE_CALL_BYPASS);
    if (next && (ending & ENDING_CALLS_SYSTEM) && (entered & ENTERED_SYSTEM_RETURN))
        return add_bypass(finding, source, target, DCFG_EDGE_SYSTEM_CALL_BYPASS);
    if ((ending & ENDING_CHANGES_CONTEXT) && (entered & ENTERED_CONTEXT_RETURN))
        return add_bypass(finding, source, target, DCFG_EDGE_CONTEXT_CHANGE_BYPASS);
    return 0;
}

static int find_bypasses(struct edge_typing *finding)
{
    const struct flow_graph *graph = finding->graph;
    int result = 0;
    for (size_t i = 0; i < graph->resumption_count && result == 0; i++)
        result = add_bypass(finding, graph->resumptions[i].source, graph->resumptions[i].target,
                            DCFG_EDGE_CONTEXT_CHANGE_BYPASS);
    for (uint32_t b = 0; b < graph->block_count && result == 0; b++) {
        uint64_t addresses[2];
        unsigned count = finding->endings[b] != 0 ? resumptions(finding, b, addresses) : 0;
        for (unsigned i = 0; i < count; i++)
            for (uint32_t n = flow_find_block(graph, addresses[i]);
                 n < graph->block_count && graph->blocks[n].address == addresses[i] && result == 0;
                 n++)
                result = bypass(finding, b, n, i == 0);
    }
    return result;
}

static void find_rows(struct edge_typing *finding)
{
    const struct flow_graph *graph = finding->graph;
    uint32_t e = 0;
    for (uint32_t b = 0; b <= graph->block_count; b++) {
        while (e < graph->edge_count && graph->edges[e].source < b)
            e++;
        finding->first[b] = e;
    }
}

int edge_types_find(struct edge_types *types, const struct flow_graph *graph,
                    const struct images *images, enum unknown_branches unknown,
                    struct bt_error *error)
{
    struct edge_typing finding = {.types = types, .graph = graph, .images = images};
    size_t blocks = graph->block_count;
    *types = (struct edge_types){.types = malloc(graph->edge_count + 1)};
    uint8_t *notes = calloc(3, blocks + 1);
    finding.first = malloc((blocks + 1) * sizeof(uint32_t));
    int result = types->types && notes && finding.first ? 0 : BT_MEMORY;
    if (result != 0)
        goto out;
    finding.endings = notes;
    finding.entered = notes + blocks;
    for (size_t e = 0; e < graph->edge_count; e++)
        types->types[e] = (uint8_t)type_of(&finding, &graph->edges[e]);
    result = unknown_code_types(types->types, graph, unknown);
    if (result != 0)
        goto out;
    for (size_t e = 0; e < graph->edge_count; e++)
        note_edge(&finding, e);
    find_rows(&finding);
    find_hidden_returns(&finding, notes + 2 * blocks);
    for (size_t i = 0; i < 2 * blocks; i++)
        notes[i] = 0;
    for (size_t e = 0; e < graph->edge_count; e++)
        note_edge(&finding, e);
    result = find_bypasses(&finding);
out:
    free(finding.first);
    free(notes);
    if (result != 0) {
        edge_types_clear(types);
        bt_fail(error, BT_MEMORY, "no memory for the types of %zu edges", graph->edge_count);
    }
    return result;
}

void edge_types_clear(struct edge_types *types)
{
    free(types->types);
    free(types->bypasses);
    *types = (struct edge_types){.types = NULL};
}
