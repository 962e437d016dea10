/* Makes blocks and edges from instructions and the edges between them. */
#include "tools/dcfg/graph/flow_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- where blocks begin --- */

/* Whether an edge only joins two runs: the only way out of its source, and the only way into its
 * target. */
static bool joins(const struct flow *flow, const struct edge *edge, const uint8_t *entries)
{
    const struct instruction *source = &flow->instructions[edge->source];
    const struct instruction *target = &flow->instructions[edge->target];
    return (edge->ways & WAY_STEP) && edge->source != START_INSTRUCTION &&
           edge->target != END_INSTRUCTION && flow->edges[edge->next].next == edge->next &&
           entries[edge->target] == 1 && !(target->tag & TAG_RUN) && !(source[1].tag & TAG_RUN) &&
           !(source->tag & TAG_CUT) && !(target->tag & TAG_ALONE) &&
           flow_sequential(source, target->address);
}

/* Marks the instructions that start a block, and the edges inside blocks. */
static int mark_leaders(struct flow *flow)
{
    uint8_t *entries = flow_resize(flow, NULL, 0, flow->instruction_count, sizeof *entries);
    if (!entries)
        return flow->broken.code;
    for (uint32_t e = 1; e < flow->edge_count; e++)
        if (entries[flow->edges[e].target] < 2)
            entries[flow->edges[e].target]++;
    for (uint32_t e = 1; e < flow->edge_count; e++) {
        flow->edges[e].inside = joins(flow, &flow->edges[e], entries);
        if (flow->edges[e].inside)
            entries[flow->edges[e].target] = UINT8_MAX;
    }
    for (uint32_t i = FIRST_INSTRUCTION; i < flow->instruction_count; i++) {
        struct instruction *instruction = &flow->instructions[i];
        const struct instruction *before = instruction - 1;
        bool run = instruction->tag & TAG_RUN;
        if ((instruction->tag & TAG_USED) && entries[i] != UINT8_MAX &&
            (!run || entries[i] > 0 || before->edge != 0 || (before->tag & TAG_CUT)))
            instruction->tag |= TAG_LEADER;
    }
    flow->memory -= flow->instruction_count;
    free(entries);
    return 0;
}

/* The next instruction of a block; 0 after the last. */
static uint32_t inside_block(const struct flow *flow, uint32_t i)
{
    if ((flow->instructions[i + 1].tag & (TAG_RUN | TAG_LEADER)) == TAG_RUN)
        return i + 1;
    const struct edge *edge = &flow->edges[flow->instructions[i].edge];
    return edge->inside ? edge->target : 0;
}

struct leader {
    uint64_t key; /* address, then size */
    uint32_t instruction;
};

static int by_key(const void *a, const void *b)
{
    const struct leader *left = a;
    const struct leader *right = b;
    return left->key < right->key ? -1 : left->key > right->key;
}

static struct leader *sorted_leaders(struct flow *flow)
{
    uint32_t count = 0;
    for (uint32_t i = FIRST_INSTRUCTION; i < flow->instruction_count; i++)
        count += (flow->instructions[i].tag & TAG_LEADER) != 0;
    struct leader *leaders = flow_resize(flow, NULL, 0, count + 1u, sizeof *leaders);
    if (!leaders)
        return NULL;
    flow->block_count = 0;
    for (uint32_t i = FIRST_INSTRUCTION; i < flow->instruction_count; i++) {
        const struct instruction *instruction = &flow->instructions[i];
        if (instruction->tag & TAG_LEADER)
            leaders[flow->block_count++] = (struct leader){
                .key = (uint64_t)instruction->address << 8 | (instruction->tag & 0xffu),
                .instruction = i};
    }
    qsort(leaders, count, sizeof *leaders, by_key);
    return leaders;
}

static void measure_block(struct flow *flow, uint32_t number, uint32_t first)
{
    struct flow_block *block = &flow->blocks[number];
    const struct instruction *instructions = flow->instructions;
    uint32_t last = first;
    block->address = instructions[first].address;
    block->instructions = 1;
    for (uint32_t next; (next = inside_block(flow, last)) != 0; last = next)
        block->instructions++;
    block->last_offset = instructions[last].address - block->address;
    block->last_size = (uint8_t)instructions[last].tag;
    block->size = (uint64_t)block->last_offset + block->last_size;
    flow->first_of[number] = first;
    flow->last_of[number] = last;
    flow->block_of[first] = number;
    flow->block_of[last] = number;
}

static int make_blocks(struct flow *flow)
{
    if (mark_leaders(flow) != 0)
        return flow->broken.code;
    struct leader *leaders = sorted_leaders(flow);
    if (!leaders)
        return flow->broken.code;
    size_t room = (size_t)flow->block_count + 1;
    flow->blocks = flow_resize(flow, NULL, 0, room, sizeof *flow->blocks);
    if (flow->blocks)
        flow->first_of = flow_resize(flow, NULL, 0, room, sizeof *flow->first_of);
    if (flow->first_of)
        flow->last_of = flow_resize(flow, NULL, 0, room, sizeof *flow->last_of);
    if (flow->last_of)
        flow->fall_of = flow_resize(flow, NULL, 0, room, sizeof *flow->fall_of);
    if (flow->fall_of)
        flow->block_of =
            flow_resize(flow, NULL, 0, flow->instruction_count, sizeof *flow->block_of);
    if (flow->block_of)
        for (uint32_t i = 0; i < flow->block_count; i++)
            measure_block(flow, i, leaders[i].instruction);
    flow->memory -= room * sizeof *leaders;
    free(leaders);
    return flow->broken.code;
}

/* --- the edges between blocks --- */

static uint32_t source_block(const struct flow *flow, const struct edge *edge)
{
    return edge->source == START_INSTRUCTION ? FLOW_START : flow->block_of[edge->source];
}

static uint32_t target_block(const struct flow *flow, const struct edge *edge)
{
    return edge->target == END_INSTRUCTION ? FLOW_END : flow->block_of[edge->target];
}

static enum flow_kind kind_of(const struct flow *flow, const struct edge *edge)
{
    if (edge->source == START_INSTRUCTION)
        return FLOW_ENTRY;
    if (edge->target == END_INSTRUCTION)
        return FLOW_EXIT;
    if (!(edge->ways & WAY_STEP))
        return edge->ways & WAY_SIGNAL          ? FLOW_SIGNAL
               : edge->ways & WAY_SIGNAL_RETURN ? FLOW_SIGNAL_RETURN
                                                : FLOW_UNKNOWN;
    return flow_sequential(&flow->instructions[edge->source],
                           flow->instructions[edge->target].address)
               ? FLOW_NEXT
               : FLOW_JUMP;
}

/* Whether control leaves a block along its run. */
static bool falls(const struct flow *flow, uint32_t block)
{
    return flow->instructions[flow->last_of[block] + 1].tag & TAG_RUN;
}

/* An edge being sorted. */
struct sorted_edge {
    uint32_t target;
    uint32_t edge; /* edge between instructions; 0: the block's step along its run */
    uint8_t kind;
};

static int by_target(const void *a, const void *b)
{
    const struct sorted_edge *left = a;
    const struct sorted_edge *right = b;
    return left->target < right->target ? -1 : left->target > right->target;
}

/* Sorts the edges by source: sorted[first[source]] to sorted[first[source + 1] - 1]. START has the
 * last row. */
static void sort_edges(const struct flow *flow, struct sorted_edge *sorted, uint32_t *first)
{
    uint32_t blocks = flow->block_count;
    for (uint32_t b = 0; b < blocks; b++)
        first[b + 2] = falls(flow, b);
    for (uint32_t e = 1; e < flow->edge_count; e++) {
        uint32_t source = source_block(flow, &flow->edges[e]);
        if (!flow->edges[e].inside)
            first[(source == FLOW_START ? blocks : source) + 2]++;
    }
    for (uint32_t b = 2; b < blocks + 3; b++)
        first[b] += first[b - 1];
    for (uint32_t b = 0; b < blocks; b++)
        if (falls(flow, b))
            sorted[first[b + 1]++] = (struct sorted_edge){
                .target = flow->block_of[flow->last_of[b] + 1], .edge = 0, .kind = FLOW_NEXT};
    for (uint32_t e = 1; e < flow->edge_count; e++) {
        const struct edge *edge = &flow->edges[e];
        uint32_t source = source_block(flow, edge);
        if (!edge->inside)
            sorted[first[(source == FLOW_START ? blocks : source) + 1]++] =
                (struct sorted_edge){.target = target_block(flow, edge),
                                     .edge = e,
                                     .kind = (uint8_t)kind_of(flow, edge)};
    }
}

/* Numbers the edges by source, then by target. */
static void number_edges(struct flow *flow, struct sorted_edge *sorted, const uint32_t *first)
{
    memset(flow->graph_edge, 0xff, flow->edge_count * sizeof *flow->graph_edge);
    memset(flow->fall_of, 0xff, flow->block_count * sizeof *flow->fall_of);
    for (uint32_t b = 0; b <= flow->block_count; b++) {
        qsort(sorted + first[b], first[b + 1] - first[b], sizeof *sorted, by_target);
        for (uint32_t i = first[b]; i < first[b + 1]; i++) {
            uint32_t source = b == flow->block_count ? FLOW_START : b;
            flow->graph_edges[i] = (struct flow_edge){
                .source = source, .target = sorted[i].target, .kind = sorted[i].kind};
            if (sorted[i].edge != 0)
                flow->graph_edge[sorted[i].edge] = i;
            else
                flow->fall_of[b] = i;
        }
    }
}

static int make_edges(struct flow *flow)
{
    uint64_t count = flow->edge_count ? flow->edge_count - 1 : 0;
    for (uint32_t e = 1; e < flow->edge_count; e++)
        count -= flow->edges[e].inside;
    for (uint32_t b = 0; b < flow->block_count; b++)
        count += falls(flow, b);
    if (count >= 0x7fffffff)
        return bt_fail(&flow->broken, BT_MEMORY, "the graph has more than 2^31 edges");
    flow->graph_edge_count = (uint32_t)count;

    size_t rows = (size_t)flow->block_count + 3;
    uint32_t *first = flow_resize(flow, NULL, 0, rows, sizeof *first);
    struct sorted_edge *sorted =
        first ? flow_resize(flow, NULL, 0, count + 1, sizeof *sorted) : NULL;
    if (sorted)
        flow->graph_edges = flow_resize(flow, NULL, 0, count + 1, sizeof *flow->graph_edges);
    if (flow->graph_edges)
        flow->graph_edge =
            flow_resize(flow, NULL, 0, flow->edge_count + 1u, sizeof *flow->graph_edge);
    if (flow->graph_edge) {
        sort_edges(flow, sorted, first);
        number_edges(flow, sorted, first);
        flow->memory -= rows * sizeof *first + (count + 1) * sizeof *sorted;
    }
    free(sorted);
    free(first);
    return flow->broken.code;
}

/* --- how often --- */

/* Sorts threads by processor, and by the order of their lives; position[] becomes the index of each
 * thread number. */
static int number_threads(struct flow *flow, uint32_t *position)
{
    const uint32_t count = flow->thread_count;
    uint32_t next[FLOW_PROCESSORS + 1] = {0};
    flow->processors = flow_resize(flow, NULL, 0, count + 1u, sizeof *flow->processors);
    flow->fetched = flow_resize(flow, NULL, 0, count + 1u, sizeof *flow->fetched);
    if (!flow->processors || !flow->fetched)
        return flow->broken.code;
    for (uint32_t t = 0; t < count; t++)
        next[flow->lives[t].processor + 1]++;
    for (unsigned processor = 0; processor < FLOW_PROCESSORS; processor++)
        next[processor + 1] += next[processor];
    for (uint32_t t = 0; t < count; t++) {
        position[t] = next[flow->lives[t].processor]++;
        flow->processors[position[t]] = flow->lives[t].processor;
        flow->fetched[position[t]] = flow->lives[t].seen;
    }
    return 0;
}

/* Adds an edge's counts to a row, or subtracts them. */
static void add_counts(const struct flow *flow, const struct edge *edge, const uint32_t *position,
                       uint64_t *row, bool off)
{
    row[position[edge->thread]] += off ? -edge->count : edge->count;
    if (edge->more == 0)
        return;
    const uint64_t *more = flow->more + (size_t)edge->more * flow->stride;
    uint32_t count = flow->stride < flow->thread_count ? flow->stride : flow->thread_count;
    for (uint32_t i = 0; i < count; i++)
        row[position[i]] += off ? -more[i] : more[i];
}

/* Control that enters a block and does not leave it by an edge continues along its run. For each
 * block compute the difference of its edges, and sum these along each run. */
static void count_falls(struct flow *flow)
{
    uint32_t threads = flow->thread_count;
    for (uint32_t head = 0; head < flow->block_count; head++) {
        if (flow->instructions[flow->first_of[head]].tag & TAG_RUN)
            continue;
        for (uint32_t fall = flow->fall_of[head]; fall != FLOW_NO_EDGE;) {
            uint32_t next = flow->fall_of[flow->graph_edges[fall].target];
            if (next == FLOW_NO_EDGE)
                break;
            for (uint32_t t = 0; t < threads; t++)
                flow->counts[(size_t)next * threads + t] +=
                    flow->counts[(size_t)fall * threads + t];
            fall = next;
        }
    }
}

static int count_edges(struct flow *flow)
{
    size_t threads = flow->thread_count;
    flow->counts =
        flow_resize(flow, NULL, 0, flow->graph_edge_count * threads + 1, sizeof *flow->counts);
    uint32_t *position =
        flow->counts ? flow_resize(flow, NULL, 0, threads + 1, sizeof *position) : NULL;
    if (!position || number_threads(flow, position) != 0) {
        free(position);
        return flow->broken.code;
    }
    for (uint32_t e = 1; e < flow->edge_count; e++) {
        const struct edge *edge = &flow->edges[e];
        if (edge->inside)
            continue;
        uint32_t source = source_block(flow, edge);
        uint32_t target = target_block(flow, edge);
        add_counts(flow, edge, position, flow->counts + flow->graph_edge[e] * threads, false);
        if (source != FLOW_START && flow->fall_of[source] != FLOW_NO_EDGE)
            add_counts(flow, edge, position, flow->counts + flow->fall_of[source] * threads, true);
        if (target != FLOW_END && flow->fall_of[target] != FLOW_NO_EDGE)
            add_counts(flow, edge, position, flow->counts + flow->fall_of[target] * threads, false);
    }
    free(position);
    count_falls(flow);
    for (uint32_t e = 0; e < flow->graph_edge_count; e++)
        if (flow->graph_edges[e].target != FLOW_END)
            for (size_t t = 0; t < threads; t++)
                flow->blocks[flow->graph_edges[e].target].count += flow->counts[e * threads + t];
    return 0;
}

/* Ends the last thread of each processor. */
static int end_threads(struct flow *flow)
{
    for (unsigned processor = 0; processor < FLOW_PROCESSORS && flow->broken.code == 0; processor++)
        flow_end_thread(flow, &flow->threads[processor]);
    return flow->broken.code;
}

/* Where handlers of signals returned, by blocks. */
static int find_resumptions(struct flow *flow)
{
    flow->resumptions =
        flow_resize(flow, NULL, 0, flow->return_count + 1u, sizeof *flow->resumptions);
    if (!flow->resumptions)
        return flow->broken.code;
    for (uint32_t i = 0; i < flow->return_count; i++) {
        const struct flow_return *at = &flow->returns[i];
        const struct flow_resumption resumption = {.source = flow->block_of[at->source],
                                                   .target = flow->block_of[at->target]};
        /* else one of them is inside a block: the handler is the next instruction */
        if (flow->last_of[resumption.source] == at->source &&
            flow->first_of[resumption.target] == at->target)
            flow->resumptions[flow->resumption_count++] = resumption;
    }
    return 0;
}

int flow_finish(struct flow *flow, struct flow_graph *graph, struct bt_error *error)
{
    if (flow->broken.code != 0 || end_threads(flow) != 0 || make_blocks(flow) != 0 ||
        make_edges(flow) != 0 || count_edges(flow) != 0 || find_resumptions(flow) != 0) {
        if (error)
            *error = flow->broken;
        return flow->broken.code;
    }
    *graph = (struct flow_graph){
        .blocks = flow->blocks,
        .block_count = flow->block_count,
        .edges = flow->graph_edges,
        .edge_count = flow->graph_edge_count,
        .counts = flow->counts,
        .thread_count = flow->thread_count,
        .processors = flow->processors,
        .resumptions = flow->resumptions,
        .resumption_count = flow->resumption_count,
        .instructions = flow->fetched,
        .first_block = flow->block_count ? flow->block_of[flow->first_instruction] : 0,
    };
    return 0;
}

uint32_t flow_find_block(const struct flow_graph *graph, uint64_t address)
{
    size_t low = 0;
    size_t high = graph->block_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (graph->blocks[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}
