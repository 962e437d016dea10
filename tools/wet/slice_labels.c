#include "tools/wet/slice_labels.h"

#include "formats/base/grow.h"

#include <string.h>

#define SEGMENT_NONE UINT32_MAX

/* The labels of a port from one instance to the next segment. */
struct segment {
    uint64_t reader;   /* the instance */
    size_t first;      /* of its writers in labels.writers */
    uint32_t count;    /* number of writers */
    uint32_t previous; /* of the same port */
    uint8_t way;
};

struct label_port {
    struct wet_port port;
    struct wet_cursor from;
    uint64_t left;    /* executions up to the next that must be read; 0: that is it */
    uint32_t segment; /* the last one */
};

/* The outcomes of an instruction. */
struct outcome_runs {
    size_t first;   /* of the ends in labels.ends: of runs that are true, false, true ... */
    uint32_t count; /* of runs that are not after the last one asked for */
};

struct slice_labels {
    const struct wet_trace *trace;
    uint32_t last_id;
    struct label_port *ports;
    struct outcome_runs *outcomes; /* by id */
    struct segment *segments;
    size_t segment_count, segment_capacity;
    struct wet_predicted *writers;
    size_t writer_count, writer_capacity;
    uint64_t *ends; /* of runs of outcomes: executions before */
    size_t end_count, end_capacity;
    struct wet_ranges ranges; /* scratch */
};

static size_t port_count(const struct slice_labels *labels)
{
    return labels->trace->first_port[labels->trace->file.code.instruction_count];
}

struct slice_labels *slice_labels_new(const struct wet_trace *trace)
{
    struct slice_labels *labels = calloc(1, sizeof *labels);
    if (!labels)
        return NULL;
    labels->trace = trace;
    labels->ports = calloc(port_count(labels) + 1, sizeof *labels->ports);
    labels->outcomes = calloc(trace->file.code.instruction_count + 1, sizeof *labels->outcomes);
    if (labels->ports && labels->outcomes)
        return labels;
    slice_labels_free(labels);
    return NULL;
}

void slice_labels_free(struct slice_labels *labels)
{
    if (!labels)
        return;
    for (size_t i = 0; labels->ports && i < port_count(labels); i++)
        wet_port_clear(&labels->ports[i].port);
    free(labels->ports);
    free(labels->outcomes);
    free(labels->segments);
    free(labels->writers);
    free(labels->ends);
    free(labels->ranges.ranges);
    free(labels);
}

/* --- a chunk begins ----------------------------------------------------------------------------
 */

static struct wet_cursor cursor_of(const struct wet_chunk *chunk, enum wet_stream stream,
                                   const struct wet_slice *slice)
{
    const uint8_t *bytes = chunk->streams[stream].bytes + slice->offset;
    return (struct wet_cursor){.at = bytes, .end = bytes + slice->size};
}

static int read_runs(struct slice_labels *labels, struct outcome_runs *runs,
                     struct wet_cursor *from)
{
    uint64_t end = 0;
    runs->first = labels->end_count;
    while (from->at < from->end) {
        uint64_t *larger =
            grow_array(labels->ends, &labels->end_capacity, labels->end_count + 1, sizeof *larger);
        if (!larger)
            return BT_MEMORY;
        labels->ends = larger;
        larger[labels->end_count++] = end += wet_cursor_get(from);
        runs->count++;
    }
    return from->failed ? BT_DATA : 0;
}

/* How far a port's next stored label is. */
static void schedule(struct label_port *port)
{
    if (!port->port.has_run && port->from.at < port->from.end) {
        port->port.run = wet_cursor_get(&port->from);
        port->port.has_run = true;
    }
    /* the last predicted label is read, too: the next stored one may refer to it */
    port->left = port->port.has_run && port->port.run > 0 ? port->port.run - 1 : 0;
}

static int set_cursors(struct slice_labels *labels, const struct wet_chunk *chunk, bool is_label,
                       struct bt_error *error)
{
    const struct wet_trace *trace = labels->trace;
    struct wet_slice *slices;
    size_t count;
    int result = wet_chunk_index(chunk, is_label, labels->last_id + 1, &slices, &count, error);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct wet_slice *slice = &slices[i];
        const struct wet_flow *flow = &trace->flows.flows[slice->id];
        if (is_label ? slice->operand >= flow->memory_ports : !flow->has_outcome) {
            result = bt_fail(error, BT_DATA, "a chunk describes a port that does not exist");
        } else if (is_label) {
            struct label_port *port = &labels->ports[trace->first_port[slice->id] + slice->operand];
            port->from = cursor_of(chunk, WET_STREAM_LABELS, slice);
            schedule(port);
        } else {
            struct wet_cursor from = cursor_of(chunk, WET_STREAM_OUTCOMES, slice);
            result = read_runs(labels, &labels->outcomes[slice->id], &from);
            if (result < 0)
                bt_fail(error, result, "a chunk's outcomes cannot be read");
        }
    }
    free(slices);
    return result;
}

int slice_labels_begin(struct slice_labels *labels, const struct wet_chunk *chunk, uint32_t last_id,
                       struct bt_error *error)
{
    const size_t ids = labels->trace->file.code.instruction_count;
    labels->segment_count = labels->writer_count = labels->end_count = 0;
    labels->last_id = last_id;
    for (size_t i = 0; i < port_count(labels); i++) {
        struct label_port *port = &labels->ports[i];
        wet_port_reset(&port->port);
        *port = (struct label_port){.port = port->port, .segment = SEGMENT_NONE};
    }
    memset(labels->outcomes, 0, ids * sizeof *labels->outcomes);
    const int result = set_cursors(labels, chunk, true, error);
    return result == 0 ? set_cursors(labels, chunk, false, error) : result;
}

/* --- forwards ----------------------------------------------------------------------------------
 */

static int add_segment(struct slice_labels *labels, struct label_port *port, uint64_t reader,
                       const struct wet_ranges *ranges, const uint64_t *counts)
{
    struct segment *larger = grow_array(labels->segments, &labels->segment_capacity,
                                        labels->segment_count + 1, sizeof *larger);
    if (!larger || labels->segment_count >= SEGMENT_NONE)
        return BT_MEMORY;
    labels->segments = larger;
    struct wet_predicted *writers =
        grow_array(labels->writers, &labels->writer_capacity, labels->writer_count + ranges->count,
                   sizeof *writers);
    if (!writers)
        return BT_MEMORY;
    labels->writers = writers;
    larger[labels->segment_count] = (struct segment){.reader = reader,
                                                     .first = labels->writer_count,
                                                     .count = (uint32_t)ranges->count,
                                                     .previous = port->segment,
                                                     .way = port->port.way};
    for (size_t i = 0; i < ranges->count; i++)
        writers[labels->writer_count++] =
            (struct wet_predicted){.writers = ranges->ranges[i],
                                   .age = counts[ranges->ranges[i].id] - ranges->ranges[i].first};
    port->segment = (uint32_t)labels->segment_count++;
    return 0;
}

static int read_label(struct slice_labels *labels, struct label_port *port, uint32_t id,
                      const uint64_t *counts)
{
    const uint64_t reader = counts[id] - 1;
    const bool is_stored = port->port.run == 0;
    if (!is_stored)
        port->port.run = 1; /* those before were passed */
    int result =
        wet_port_get(&port->port, reader, labels->last_id, counts, &port->from, &labels->ranges);
    if (result == 0 && is_stored)
        result = add_segment(labels, port, reader, &labels->ranges, counts);
    if (result == 0 && is_stored && labels->ranges.count > WET_PREDICTED) {
        labels->ranges.count = 0; /* is not predicted for the next one */
        result = add_segment(labels, port, reader + 1, &labels->ranges, counts);
    }
    schedule(port);
    return result;
}

int slice_labels_pass(struct slice_labels *labels, uint32_t id, const uint64_t *counts)
{
    const struct wet_trace *trace = labels->trace;
    int result = 0;
    for (uint32_t i = trace->first_port[id]; i < trace->first_port[id + 1] && result == 0; i++) {
        struct label_port *port = &labels->ports[i];
        if (port->left == 0)
            result = read_label(labels, port, id, counts);
        else
            port->left--;
    }
    return result;
}

/* --- backwards ---------------------------------------------------------------------------------
 */

int slice_labels_get(struct slice_labels *labels, uint32_t id, uint32_t operand, uint64_t instance,
                     const uint64_t *counts, struct wet_ranges *to)
{
    struct label_port *port = &labels->ports[labels->trace->first_port[id] + operand];
    while (port->segment != SEGMENT_NONE && labels->segments[port->segment].reader > instance)
        port->segment = labels->segments[port->segment].previous;
    if (port->segment == SEGMENT_NONE)
        return 0;
    const struct segment *segment = &labels->segments[port->segment];
    struct wet_writers *larger =
        grow_array(to->ranges, &to->capacity, to->count + segment->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    to->ranges = larger;
    for (uint32_t i = 0; i < segment->count; i++) {
        const struct wet_predicted *one = &labels->writers[segment->first + i];
        struct wet_writers writers = one->writers;
        if (segment->way == WET_SAME_AGE)
            writers.first = counts[writers.id] - one->age;
        else if (segment->way == WET_SAME_DISTANCE)
            writers.first += instance - segment->reader;
        if (writers.count > counts[writers.id] ||
            writers.first > counts[writers.id] - writers.count)
            return BT_DATA;
        larger[to->count++] = writers;
    }
    return 0;
}

int slice_labels_outcome(struct slice_labels *labels, uint32_t id, uint64_t execution)
{
    struct outcome_runs *runs = &labels->outcomes[id];
    const uint64_t *ends = labels->ends + runs->first;
    while (runs->count > 1 && ends[runs->count - 2] > execution)
        runs->count--;
    if (runs->count == 0 || ends[runs->count - 1] <= execution)
        return BT_DATA;
    return runs->count & 1; /* the first run, and each other one, is true */
}
