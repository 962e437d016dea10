#include "tools/dcfg/graph/build_trace.h"

#include "formats/dcfg/dcfg_trace_writer.h"
#include "tools/dcfg/graph/assemble.h"

#include <stdlib.h>

#define PIECE 4096u /* records replayed at a time */
#define QUEUE 512u  /* edges of a thread written at a time */

struct replay_queue {
    uint32_t edges[QUEUE];
    size_t count;
    bool lost; /* the next edge follows a loss */
};

struct build_trace {
    struct sink sink;
    struct flow_replay *replay;
    struct dcfg_trace_writer *writer;
    uint32_t *instructions;      /* by edge id: instructions of its source */
    struct replay_queue *queues; /* by thread */
    size_t thread_count;
    uint64_t edges;
    struct flow_step steps[PIECE + 1 > FLOW_PROCESSORS ? PIECE + 1 : FLOW_PROCESSORS];
};

/* Instructions of the source of each edge, by id. NULL without memory. */
static uint32_t *source_instructions(const struct flow_graph *graph)
{
    uint32_t *instructions = calloc(graph->edge_count + 2, sizeof *instructions);
    for (uint32_t e = 0; instructions && e < graph->edge_count; e++)
        if (graph->edges[e].source != FLOW_START)
            instructions[assemble_edge_id(e)] = graph->blocks[graph->edges[e].source].instructions;
    return instructions;
}

void build_trace_free(struct build_trace *trace)
{
    if (!trace)
        return;
    flow_replay_free(trace->replay);
    dcfg_trace_writer_free(trace->writer);
    free(trace->instructions);
    free(trace->queues);
    free(trace);
}

uint64_t build_trace_edges(const struct build_trace *trace)
{
    return trace->edges;
}

static int flush(struct build_trace *trace, uint32_t thread, struct bt_error *error)
{
    struct replay_queue *queue = &trace->queues[thread];
    int result = dcfg_trace_writer_put(trace->writer, thread, queue->edges, queue->count, error);
    queue->count = 0;
    return result;
}

/* Everything put so far precedes a loss. */
static int end_chunk(struct build_trace *trace, uint32_t thread, struct bt_error *error)
{
    int result = flush(trace, thread, error);
    trace->queues[thread].lost = false;
    return result == 0 ? dcfg_trace_writer_gap(trace->writer, thread, 0, error) : result;
}

static int put_steps(struct build_trace *trace, size_t count, struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        uint32_t thread = trace->steps[i].thread;
        struct replay_queue *queue = &trace->queues[thread];
        if (queue->lost)
            result = end_chunk(trace, thread, error);
        queue->edges[queue->count++] = assemble_edge_id(trace->steps[i].edge);
        if (queue->count == QUEUE && result == 0)
            result = flush(trace, thread, error);
    }
    trace->edges += count;
    return result;
}

static int put_fetches(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct build_trace *trace = (struct build_trace *)sink;
    size_t count;
    int result = 0;
    if (batch_has_loss_or_gap(batch))
        for (size_t t = 0; t < trace->thread_count; t++)
            trace->queues[t].lost = true;
    for (size_t at = 0; at < batch->count && result == 0; at += PIECE) {
        const struct batch piece = {.records = batch->records + at,
                                    .count = batch->count - at < PIECE ? batch->count - at : PIECE,
                                    .event = at == 0 ? batch->event : EVENT_NONE};
        result = flow_replay_put(trace->replay, &piece, trace->steps, &count, error);
        if (result == 0)
            result = put_steps(trace, count, error);
    }
    return result;
}

static const struct sink_operations operations = {.put = put_fetches, .close = NULL};

struct sink *build_trace_sink(struct build_trace *trace)
{
    return &trace->sink;
}

struct build_trace *build_trace_new(struct flow *flow, const struct flow_graph *graph,
                                    uint64_t process_id, uint32_t chunk_edges,
                                    struct text_writer *writer, struct bt_error *error)
{
    struct build_trace *trace = calloc(1, sizeof *trace);
    if (trace) {
        trace->sink.operations = &operations;
        trace->thread_count = graph->thread_count;
        trace->queues = calloc(graph->thread_count + 1, sizeof *trace->queues);
        trace->instructions = source_instructions(graph);
    }
    if (!trace || !trace->queues || !trace->instructions) {
        bt_fail(error, BT_MEMORY, "no memory for the trace");
        build_trace_free(trace);
        return NULL;
    }
    const struct edge_encoder_settings settings = {.edge_max = (uint32_t)graph->edge_count,
                                                   .chunk_edges = chunk_edges,
                                                   .instructions = trace->instructions};
    trace->replay = flow_replay_new(flow, error);
    if (trace->replay)
        trace->writer = dcfg_trace_writer_new(writer, error);
    if (trace->writer &&
        dcfg_trace_writer_process(trace->writer, process_id, &settings, error) == 0)
        return trace;
    build_trace_free(trace);
    return NULL;
}

int build_trace_finish(struct build_trace *trace, struct bt_error *error)
{
    size_t count;
    int result = flow_replay_end(trace->replay, trace->steps, &count, error);
    if (result == 0)
        result = put_steps(trace, count, error);
    for (uint32_t t = 0; t < trace->thread_count && result == 0; t++)
        result = flush(trace, t, error);
    return result == 0 ? dcfg_trace_writer_finish(trace->writer, error) : result;
}
