/* Instructions by address, edges by source and target. */
#include "tools/dcfg/graph/flow_internal.h"

#include <stdlib.h>
#include <string.h>

/* Edges of a source searched in the ring; sources with more use the index. */
#define RING_STEPS 4u
/* Bytes of memory; a run is indexed by its first instruction in each line. */
#define LINE_BYTES 32u
#define INDEX_MAX  0x7ffffff0u /* ids of the graph have 31 bits (section 1.2.3) */

static int over_limit(struct flow *flow)
{
    return bt_fail(&flow->broken, BT_MEMORY,
                   "the graph needs more than the %llu KiB of memory that --max-memory allows",
                   (unsigned long long)(flow->memory_max >> 10));
}

void *flow_resize(struct flow *flow, void *array, size_t have, size_t wanted, size_t size)
{
    uint64_t more = (uint64_t)(wanted - have) * size;
    void *grown = NULL;
    if (more > flow->memory_max - flow->memory) {
        over_limit(flow);
        return NULL;
    }
    if (wanted <= SIZE_MAX / size)
        grown = realloc(array, wanted * size);
    if (!grown) {
        bt_fail(&flow->broken, BT_MEMORY, "no memory for the graph");
        return NULL;
    }
    flow->memory += more;
    memset((char *)grown + have * size, 0, (wanted - have) * size);
    return grown;
}

/* Grows an array of *capacity elements by half, with flow_resize. Returns NULL on failure. */
static void *grow(struct flow *flow, void *array, uint32_t *capacity, uint32_t needed, size_t size)
{
    if (needed > INDEX_MAX) {
        bt_fail(&flow->broken, BT_MEMORY, "the graph has more than 2^31 elements");
        return NULL;
    }
    uint64_t wanted = (uint64_t)*capacity + *capacity / 2 + 1024;
    if (wanted > INDEX_MAX)
        wanted = INDEX_MAX;
    void *grown = flow_resize(flow, array, *capacity, wanted, size);
    if (grown)
        *capacity = (uint32_t)wanted;
    return grown;
}

/* hash_index_add within the flow's memory limit. 0 or BT_MEMORY. */
static int add_to_index(struct flow *flow, struct hash_index *index, uint32_t hash, uint32_t number)
{
    const size_t had = hash_index_bytes(index);
    if (hash_index_growth(index, 1) > flow->memory_max - flow->memory)
        return over_limit(flow);
    if (hash_index_add(index, hash, number) != 0)
        return bt_fail(&flow->broken, BT_MEMORY, "no memory for the graph");
    flow->memory += hash_index_bytes(index) - had;
    return 0;
}

/* --- instructions by address and size --- */

/* Searches the instruction in its run, from the run's first one in the line on. */
static uint32_t find_in_run(const struct flow *flow, uint32_t i, const struct record *record)
{
    const struct instruction *instructions = flow->instructions;
    do {
        if (flow_is(&instructions[i], record))
            return i;
        i++;
    } while ((instructions[i].tag & TAG_RUN) && instructions[i].address <= record->address);
    return 0;
}

uint32_t flow_find_instruction(const struct flow *flow, const struct record *record)
{
    struct hash_search search =
        hash_search(&flow->by_line, hash_number(record->address / LINE_BYTES));
    while (hash_search_next(&search)) {
        uint32_t found = find_in_run(flow, search.number, record);
        if (found != 0)
            return found;
    }
    return 0;
}

/* An array index for a thread's next new instruction, after its last one if possible. */
static int find_room(struct flow *flow, struct flow_thread *thread)
{
    enum { ROOM = 32 };
    if (thread->room < thread->room_end)
        return 0;
    /* the element after the last is read */
    if (flow->instruction_count + ROOM + 1 > flow->instruction_capacity) {
        void *grown = grow(flow, flow->instructions, &flow->instruction_capacity,
                           flow->instruction_count + ROOM + 1, sizeof *flow->instructions);
        if (!grown)
            return flow->broken.code;
        flow->instructions = grown;
    }
    if (thread->room_end != flow->instruction_count)
        thread->room = flow->instruction_count;
    flow->instruction_count += ROOM;
    thread->room_end = flow->instruction_count;
    return 0;
}

int flow_add_instruction(struct flow *flow, struct flow_thread *thread, const struct record *record,
                         bool run)
{
    if (find_room(flow, thread) != 0)
        return flow->broken.code;
    const struct record any_size = {.address = record->address};
    bool first = flow_find_instruction(flow, &any_size) == 0;
    uint32_t made = thread->room++;
    run = run && made == thread->at + 1;
    flow->instructions[made] = (struct instruction){
        .address = record->address,
        .tag =
            (uint16_t)(record->size | TAG_USED | (run ? TAG_RUN : 0u) | (first ? TAG_FIRST : 0u)),
    };
    if (run && flow->instructions[made - 1].address / LINE_BYTES == record->address / LINE_BYTES)
        return 0;
    return add_to_index(flow, &flow->by_line, hash_number(record->address / LINE_BYTES), made);
}

/* --- edges by source and target --- */

static int index_edge(struct flow *flow, uint32_t edge)
{
    return add_to_index(flow, &flow->by_ends,
                        hash_pair(flow->edges[edge].source, flow->edges[edge].target), edge);
}

static uint32_t find_indexed_edge(const struct flow *flow, uint32_t source, uint32_t target)
{
    struct hash_search search = hash_search(&flow->by_ends, hash_pair(source, target));
    while (hash_search_next(&search))
        if (flow->edges[search.number].source == source &&
            flow->edges[search.number].target == target)
            return search.number;
    return 0;
}

uint32_t flow_find_edge(struct flow *flow, uint32_t source, const struct record *record,
                        uint32_t *target)
{
    uint32_t last = flow->instructions[source].edge;
    uint32_t edge = last;
    for (uint32_t steps = 0; edge != 0 && steps < RING_STEPS; steps++) {
        if (flow_is(&flow->instructions[flow->edges[edge].target], record)) {
            flow->instructions[source].edge = edge;
            *target = flow->edges[edge].target;
            return edge;
        }
        edge = flow->edges[edge].next;
        if (edge == last)
            edge = 0; /* end of the ring */
    }
    *target = flow_find_instruction(flow, record);
    if (edge == 0 || *target == 0)
        return 0;
    edge = find_indexed_edge(flow, source, *target);
    if (edge != 0)
        flow->instructions[source].edge = edge;
    return edge;
}

/* Adds an edge to its source's ring, and to the index if the source has many. */
static int link_edge(struct flow *flow, uint32_t edge)
{
    struct edge *edges = flow->edges;
    struct instruction *source = &flow->instructions[edges[edge].source];
    uint32_t last = source->edge;
    source->edge = edge;
    edges[edge].next = edge;
    if (last == 0)
        return 0;
    edges[edge].next = edges[last].next;
    edges[last].next = edge;
    uint32_t degree = 1;
    for (uint32_t e = edges[edge].next; e != edge && degree <= RING_STEPS + 1; e = edges[e].next)
        degree++;
    if (degree <= RING_STEPS)
        return 0;
    if (degree > RING_STEPS + 1)
        return index_edge(flow, edge);
    uint32_t e = edge;
    do {
        if (index_edge(flow, e) != 0)
            return flow->broken.code;
        e = edges[e].next;
    } while (e != edge);
    return 0;
}

int flow_add_edge(struct flow *flow, uint32_t source, uint32_t target, uint32_t thread,
                  enum way way)
{
    if (flow->edge_count >= flow->edge_capacity) {
        void *grown = grow(flow, flow->edges, &flow->edge_capacity, flow->edge_count + 1,
                           sizeof *flow->edges);
        if (!grown)
            return flow->broken.code;
        flow->edges = grown;
    }
    if (flow->edge_count == 0)
        flow->edge_count = 1; /* 0 means none */
    uint32_t made = flow->edge_count++;
    flow->edges[made] = (struct edge){
        .count = 1, .source = source, .target = target, .thread = thread, .ways = (uint8_t)way};
    return link_edge(flow, made);
}

uint32_t flow_exit_edge(const struct flow *flow, uint32_t source)
{
    uint32_t first = flow->instructions[source].edge;
    uint32_t edge = first;
    while (edge != 0 && flow->edges[edge].target != END_INSTRUCTION) {
        edge = flow->edges[edge].next;
        if (edge == first)
            edge = 0;
    }
    return edge;
}

/* --- threads --- */

int flow_add_thread(struct flow *flow, uint8_t processor)
{
    if (flow->thread_count >= flow->life_capacity) {
        void *grown = grow(flow, flow->lives, &flow->life_capacity, flow->thread_count + 1,
                           sizeof *flow->lives);
        if (!grown)
            return flow->broken.code;
        flow->lives = grown;
    }
    flow->lives[flow->thread_count++] = (struct flow_life){.processor = processor};
    return 0;
}

int flow_end_thread(struct flow *flow, struct flow_thread *thread)
{
    if (thread->at == START_INSTRUCTION)
        return 0;
    uint32_t edge = flow_exit_edge(flow, thread->at);
    int result = 0;
    if (edge == 0)
        result = flow_add_edge(flow, thread->at, END_INSTRUCTION, thread->number, WAY_STEP);
    else if (flow->edges[edge].thread == thread->number)
        flow->edges[edge].count++;
    else
        result = flow_count_other(flow, &flow->edges[edge], thread->number);
    flow->lives[thread->number].seen = thread->seen;
    free(thread->handlers);
    *thread = (struct flow_thread){.lost_at = UINT64_MAX};
    return result;
}

/* --- signals --- */

int flow_note_signal(struct flow *flow, struct flow_thread *thread)
{
    if (!thread->handlers)
        thread->handlers = calloc(1, sizeof *thread->handlers);
    struct flow_handlers *handlers = thread->handlers;
    if (!handlers)
        return bt_fail(&flow->broken, BT_MEMORY, "no memory for the graph");
    handlers->interrupted[handlers->depth++ % FLOW_HANDLERS] = thread->at;
    handlers->count += handlers->count < FLOW_HANDLERS;
    return 0;
}

int flow_note_return(struct flow *flow, struct flow_thread *thread, uint32_t target)
{
    struct flow_handlers *handlers = thread->handlers;
    if (!handlers || handlers->count == 0)
        return 0;
    handlers->count--;
    uint32_t source = handlers->interrupted[--handlers->depth % FLOW_HANDLERS];
    struct hash_search search = hash_search(&flow->by_return, hash_pair(source, target));
    while (hash_search_next(&search))
        if (flow->returns[search.number].source == source &&
            flow->returns[search.number].target == target)
            return 0;
    if (flow->return_count >= flow->return_capacity) {
        void *grown = grow(flow, flow->returns, &flow->return_capacity, flow->return_count + 1,
                           sizeof *flow->returns);
        if (!grown)
            return flow->broken.code;
        flow->returns = grown;
    }
    flow->returns[flow->return_count] = (struct flow_return){source, target};
    return add_to_index(flow, &flow->by_return, hash_pair(source, target), flow->return_count++);
}

/* --- counts --- */

/* Extends the rows of counts to all threads. */
static int widen_rows(struct flow *flow)
{
    uint32_t had = flow->stride;
    uint32_t stride = had ? had : 2;
    while (stride < flow->thread_count)
        stride *= 2;
    if (stride == had)
        return 0;
    flow->stride = stride;
    if (flow->more_capacity == 0)
        return 0;
    uint64_t *rows = flow_resize(flow, flow->more, (size_t)flow->more_capacity * had,
                                 (size_t)flow->more_capacity * stride, sizeof *rows);
    if (!rows) {
        flow->stride = had;
        return flow->broken.code;
    }
    flow->more = rows;
    /* from last to first, so that no row is overwritten before it has moved */
    for (size_t row = flow->more_count; row-- > 0;) {
        memmove(rows + row * stride, rows + row * had, had * sizeof *rows);
        memset(rows + row * stride + had, 0, (stride - had) * sizeof *rows);
    }
    return 0;
}

static int add_row(struct flow *flow, struct edge *edge)
{
    if (flow->more_count == 0)
        flow->more_count = 1; /* 0 means none */
    if (flow->more_count >= flow->more_capacity) {
        uint32_t wanted = flow->more_capacity + flow->more_capacity / 2 + 64;
        uint64_t *rows = flow_resize(flow, flow->more, (size_t)flow->more_capacity * flow->stride,
                                     (size_t)wanted * flow->stride, sizeof *rows);
        if (!rows)
            return flow->broken.code;
        flow->more = rows;
        flow->more_capacity = wanted;
    }
    edge->more = flow->more_count++;
    return 0;
}

int flow_count_other(struct flow *flow, struct edge *edge, uint32_t thread)
{
    if (widen_rows(flow) != 0 || (edge->more == 0 && add_row(flow, edge) != 0))
        return flow->broken.code;
    flow->more[(size_t)edge->more * flow->stride + thread]++;
    return 0;
}
