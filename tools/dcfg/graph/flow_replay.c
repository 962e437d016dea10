/* Replays the stream through the finished graph. */
#include "tools/dcfg/graph/flow_internal.h"

#include <stdlib.h>

struct flow_replay {
    struct flow *flow;
    uint32_t at[FLOW_PROCESSORS];     /* by processor: instruction fetched last */
    uint32_t number[FLOW_PROCESSORS]; /* by processor: index of its current thread in the graph */
};

struct flow_replay *flow_replay_new(struct flow *flow, struct bt_error *error)
{
    struct flow_replay *replay = calloc(1, sizeof *replay);
    if (!replay) {
        bt_fail(error, BT_MEMORY, "no memory for the walk through the graph");
        return NULL;
    }
    replay->flow = flow;
    for (uint32_t t = flow->thread_count; t-- > 0;)
        replay->number[flow->processors[t]] = t;
    return replay;
}

void flow_replay_free(struct flow_replay *replay)
{
    free(replay);
}

/* Moves to the instruction that record fetches, if it is not the next one of the block. Returns the
 * edge of the graph, FLOW_NO_EDGE inside a block; *found is false if the graph has no such edge. */
static uint32_t leave(struct flow *flow, uint32_t *at, const struct record *record, bool *found)
{
    const struct instruction *next = &flow->instructions[*at + 1];
    *found = true;
    if ((next->tag & TAG_RUN) && flow_is(next, record)) {
        uint32_t last = (*at)++;
        return next->tag & TAG_LEADER ? flow->fall_of[flow->block_of[last]] : FLOW_NO_EDGE;
    }
    uint32_t edge = flow_find_edge(flow, *at, record, at);
    *found = edge != 0;
    return edge != 0 ? flow->graph_edge[edge] : FLOW_NO_EDGE;
}

/* Ends the current thread of a processor. 0 or BT_DATA. */
static int end_thread(struct flow_replay *replay, uint8_t processor, struct flow_step *steps,
                      size_t *count, struct bt_error *error)
{
    uint32_t edge = flow_exit_edge(replay->flow, replay->at[processor]);
    if (edge == 0)
        return bt_fail(error, BT_DATA,
                       "processor %u does not end where it did when the graph was made: this is "
                       "not the trace that it was made of",
                       processor);
    steps[(*count)++] = (struct flow_step){.thread = replay->number[processor],
                                           .edge = replay->flow->graph_edge[edge]};
    return 0;
}

/* Begins the next thread of the processor of the first fetch. 0 or BT_DATA. */
static int begin_thread(struct flow_replay *replay, const struct record *first,
                        struct flow_step *steps, size_t *count, struct bt_error *error)
{
    if (replay->at[first->processor] == START_INSTRUCTION)
        return 0;
    if (end_thread(replay, first->processor, steps, count, error) != 0)
        return BT_DATA;
    replay->at[first->processor] = START_INSTRUCTION;
    replay->number[first->processor]++;
    return 0;
}

int flow_replay_put(struct flow_replay *replay, const struct batch *batch, struct flow_step *steps,
                    size_t *count, struct bt_error *error)
{
    struct flow *flow = replay->flow;
    *count = 0;
    if (batch->event == EVENT_THREAD && batch->count > 0 &&
        batch->records[0].type == REQUEST_FETCH &&
        begin_thread(replay, batch->records, steps, count, error) != 0)
        return BT_DATA;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        if (record->type != REQUEST_FETCH)
            continue;
        uint32_t *at = &replay->at[record->processor];
        const struct instruction *next = &flow->instructions[*at + 1];
        if (next->address == record->address &&
            (next->tag & (TAG_PLAIN | TAG_LEADER)) == (TAG_USED | TAG_RUN | record->size)) {
            ++*at;
            continue;
        }
        bool found;
        uint32_t edge = leave(flow, at, record, &found);
        if (!found)
            return bt_fail(error, BT_DATA,
                           "the fetch of processor %u at 0x%x is not in the graph: this is not the "
                           "trace that it was made of",
                           record->processor, record->address);
        if (edge != FLOW_NO_EDGE)
            steps[(*count)++] =
                (struct flow_step){.thread = replay->number[record->processor], .edge = edge};
    }
    return 0;
}

int flow_replay_end(struct flow_replay *replay, struct flow_step *steps, size_t *count,
                    struct bt_error *error)
{
    const struct flow *flow = replay->flow;
    int result = 0;
    *count = 0;
    for (uint32_t t = 0; t < flow->thread_count && result == 0; t++) {
        uint8_t processor = flow->processors[t];
        bool is_last = t + 1 == flow->thread_count || flow->processors[t + 1] != processor;
        if (is_last && replay->number[processor] == t)
            result = end_thread(replay, processor, steps, count, error);
        else if (is_last)
            result = bt_fail(error, BT_DATA,
                             "processor %u has fewer threads than when the graph was made: this is "
                             "not the trace that it was made of",
                             processor);
    }
    return result;
}
