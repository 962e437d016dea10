/* Follows each thread through its instructions. */
#include "tools/dcfg/graph/flow_internal.h"

#include <stdlib.h>

static void release(struct flow *flow)
{
    free(flow->instructions);
    free(flow->edges);
    free(flow->more);
    hash_index_clear(&flow->by_line);
    hash_index_clear(&flow->by_ends);
    free(flow->blocks);
    free(flow->graph_edges);
    free(flow->counts);
    free(flow->block_of);
    free(flow->first_of);
    free(flow->last_of);
    free(flow->fall_of);
    free(flow->graph_edge);
    for (unsigned i = 0; i < FLOW_PROCESSORS; i++)
        free(flow->threads[i].handlers);
    free(flow->lives);
    free(flow->returns);
    hash_index_clear(&flow->by_return);
    free(flow->processors);
    free(flow->fetched);
    free(flow->resumptions);
    free(flow);
}

void flow_free(struct flow *flow)
{
    if (flow)
        release(flow);
}

static int put_fetches(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    return flow_put((struct flow *)sink, batch, error);
}

static const struct sink_operations operations = {.put = put_fetches, .close = NULL};

struct flow *flow_new(uint64_t memory_max, struct bt_error *error)
{
    enum { INSTRUCTIONS = 1024 };
    struct flow *flow = calloc(1, sizeof *flow);
    if (!flow) {
        bt_fail(error, BT_MEMORY, "no memory for the graph");
        return NULL;
    }
    flow->sink.operations = &operations;
    flow->memory_max = memory_max;
    for (unsigned i = 0; i < FLOW_PROCESSORS; i++)
        flow->threads[i].lost_at = UINT64_MAX;
    flow->instructions = flow_resize(flow, NULL, 0, INSTRUCTIONS, sizeof *flow->instructions);
    if (!flow->instructions) {
        if (error)
            *error = flow->broken;
        release(flow);
        return NULL;
    }
    flow->instruction_capacity = INSTRUCTIONS;
    flow->instruction_count = FIRST_INSTRUCTION;
    return flow;
}

/* The next fetch does not follow the last one. */
static void interrupt(struct flow *flow)
{
    for (unsigned i = 0; i < FLOW_PROCESSORS; i++)
        flow->threads[i].lost_at = flow->threads[i].seen;
}

/* Handles an instruction that is not the next one of the thread's run, or that was reached in
 * another way than by the previous one: finds or makes it and the edge to it. Inline because most
 * calls are without an event. */
static inline __attribute__((always_inline)) int step(struct flow *flow, struct flow_thread *thread,
                                                      const struct record *record, enum way way)
{
    uint32_t source = thread->at;
    if (source == START_INSTRUCTION) {
        if (flow_add_thread(flow, record->processor) != 0)
            return flow->broken.code;
        thread->number = flow->thread_count - 1;
        thread->room = thread->room_end = 0;
        way = WAY_STEP;
    } else if (thread->lost_at == thread->seen) {
        way = WAY_LOST;
    }
    uint32_t target;
    uint32_t found = flow_find_edge(flow, source, record, &target);
    if (found != 0) {
        struct edge *edge = &flow->edges[found];
        edge->ways |= (uint8_t)way;
        if (edge->thread == thread->number)
            edge->count++;
        else if (flow_count_other(flow, edge, thread->number) != 0)
            return flow->broken.code;
    } else {
        if (target == 0) {
            bool run =
                way == WAY_STEP && flow_sequential(&flow->instructions[source], record->address);
            if (flow_add_instruction(flow, thread, record, run) != 0)
                return flow->broken.code;
            target = thread->room - 1;
        }
        if (!(target == source + 1 && flow->instructions[target].tag & TAG_RUN) &&
            flow_add_edge(flow, source, target, thread->number, way) != 0)
            return flow->broken.code;
    }
    if (record->size != 0 && !(flow->instructions[target].tag & 0xffu))
        flow->instructions[target].tag |= record->size; /* not known before */
    if (way == WAY_SIGNAL)
        flow_note_signal(flow, thread);
    if (way == WAY_SIGNAL_RETURN)
        flow_note_return(flow, thread, target);
    if (flow->first_instruction == 0)
        flow->first_instruction = target;
    thread->at = target;
    thread->seen++;
    return flow->broken.code;
}

int flow_step(struct flow *flow, struct flow_thread *thread, const struct record *record)
{
    return step(flow, thread, record, WAY_STEP);
}

/* Handles the first fetch after an event. */
static void step_by_event(struct flow *flow, const struct record *record, uint8_t event)
{
    struct flow_thread *thread = &flow->threads[record->processor];
    if (event == EVENT_THREAD)
        flow_end_thread(flow, thread);
    if (flow->broken.code == 0)
        step(flow, thread, record,
             event == EVENT_SIGNAL          ? WAY_SIGNAL
             : event == EVENT_SIGNAL_RETURN ? WAY_SIGNAL_RETURN
                                            : WAY_STEP);
}

struct sink *flow_sink(struct flow *flow)
{
    return &flow->sink;
}

int flow_put(struct flow *flow, const struct batch *batch, struct bt_error *error)
{
    if (flow->broken.code == 0 && batch_has_loss_or_gap(batch))
        interrupt(flow);
    const bool event =
        batch->event != EVENT_NONE && batch->count > 0 && batch->records[0].type == REQUEST_FETCH;
    if (event && flow->broken.code == 0)
        step_by_event(flow, batch->records, batch->event);
    const struct instruction *instructions = flow->instructions;
    for (size_t i = event; i < batch->count && flow->broken.code == 0; i++) {
        const struct record *record = &batch->records[i];
        if (record->type != REQUEST_FETCH)
            continue;
        struct flow_thread *thread = &flow->threads[record->processor];
        const struct instruction *next = &instructions[thread->at + 1];
        if (flow_is_next(next, record)) {
            thread->at++;
            thread->seen++;
        } else {
            step(flow, thread, record, WAY_STEP);
            instructions = flow->instructions;
        }
    }
    if (flow->broken.code != 0 && error)
        *error = flow->broken;
    return flow->broken.code;
}

uint64_t flow_fetches(const struct flow *flow)
{
    uint64_t fetches = 0;
    for (unsigned i = 0; i < FLOW_PROCESSORS; i++)
        fetches += flow->threads[i].seen;
    for (uint32_t t = 0; t < flow->thread_count; t++)
        fetches += flow->lives[t].seen;
    return fetches;
}

bool flow_next_instruction(const struct flow *flow, uint32_t *at, uint32_t *address, uint8_t *size)
{
    uint32_t i = *at < FIRST_INSTRUCTION ? FIRST_INSTRUCTION : *at + 1;
    while (i < flow->instruction_count && !(flow->instructions[i].tag & TAG_USED))
        i++;
    if (i >= flow->instruction_count)
        return false;
    *at = i;
    *address = flow->instructions[i].address;
    *size = (uint8_t)flow->instructions[i].tag;
    return true;
}

void flow_set_size(struct flow *flow, uint32_t at, uint8_t size)
{
    uint16_t *tag = &flow->instructions[at].tag;
    *tag = (uint16_t)((*tag & ~0xffu) | size);
}

void flow_end_block(struct flow *flow, uint32_t at)
{
    flow->instructions[at].tag |= TAG_CUT;
}
