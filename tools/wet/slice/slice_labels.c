#include "tools/wet/slice/slice_labels.h"

#include "formats/base/grow.h"

#include <string.h>

struct slice_label_port {
    struct wet_port port;
    struct wet_cursor from;
};

/* The outcomes of an instruction. */
struct slice_outcome_runs {
    size_t first;   /* of the ends in labels.ends: of runs that are true, false, true ... */
    uint32_t count; /* of runs that are not after the last one asked for */
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
    labels->left = calloc(port_count(labels) + 1, sizeof *labels->left);
    labels->last = calloc(port_count(labels) + 1, sizeof *labels->last);
    labels->outcomes = calloc(trace->file.code.instruction_count + 1, sizeof *labels->outcomes);
    if (labels->ports && labels->left && labels->last && labels->outcomes)
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
    free(labels->left);
    free(labels->last);
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
                                   const struct wet_extent *extent)
{
    return wet_cursor_at(&chunk->streams[stream], extent->offset, extent->size);
}

static int read_runs(struct slice_labels *labels, struct slice_outcome_runs *runs,
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
static void schedule(struct slice_labels *labels, uint32_t number)
{
    struct slice_label_port *port = &labels->ports[number];
    if (!port->port.has_run && port->from.at < port->from.end) {
        port->port.run = wet_cursor_get(&port->from);
        port->port.has_run = true;
    }
    /* the last predicted label is read, too: the next stored one may refer to it */
    labels->left[number] = port->port.has_run && port->port.run > 0 ? port->port.run - 1 : 0;
}

static int set_cursors(struct slice_labels *labels, const struct wet_chunk *chunk, bool is_label,
                       struct bt_error *error)
{
    const struct wet_trace *trace = labels->trace;
    struct wet_extent *extents;
    size_t count;
    int result = wet_chunk_index(chunk, is_label, labels->last_id + 1, &extents, &count, error);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct wet_extent *extent = &extents[i];
        const struct wet_flow *flow = &trace->flows.flows[extent->id];
        if (is_label ? extent->operand >= flow->memory_ports : !flow->has_outcome) {
            result = bt_fail(error, BT_DATA, "a chunk describes a port that does not exist");
        } else if (is_label) {
            const uint32_t port = trace->first_port[extent->id] + extent->operand;
            labels->ports[port].from = cursor_of(chunk, WET_STREAM_LABELS, extent);
            schedule(labels, port);
        } else {
            struct wet_cursor from = cursor_of(chunk, WET_STREAM_OUTCOMES, extent);
            result = read_runs(labels, &labels->outcomes[extent->id], &from);
            if (result < 0)
                bt_fail(error, result, "a chunk's outcomes cannot be read");
        }
    }
    free(extents);
    return result;
}

int slice_labels_begin(struct slice_labels *labels, const struct wet_chunk *chunk, uint32_t last_id,
                       struct bt_error *error)
{
    const size_t ids = labels->trace->file.code.instruction_count;
    labels->segment_count = labels->writer_count = labels->end_count = 0;
    labels->last_id = last_id;
    for (size_t i = 0; i < port_count(labels); i++) {
        struct slice_label_port *port = &labels->ports[i];
        wet_port_reset(&port->port);
        port->from = (struct wet_cursor){.at = NULL};
        labels->left[i] = 0;
        labels->last[i] = SLICE_SEGMENT_NONE;
    }
    memset(labels->outcomes, 0, ids * sizeof *labels->outcomes);
    const int result = set_cursors(labels, chunk, true, error);
    return result == 0 ? set_cursors(labels, chunk, false, error) : result;
}

/* --- forwards ----------------------------------------------------------------------------------
 */

static int add_writers(struct slice_labels *labels, const struct wet_ranges *ranges,
                       const uint64_t *counts)
{
    struct wet_predicted *larger = grow_array(labels->writers, &labels->writer_capacity,
                                              labels->writer_count + ranges->count, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    labels->writers = larger;
    for (size_t i = 0; i < ranges->count; i++)
        larger[labels->writer_count++] =
            (struct wet_predicted){.writers = ranges->ranges[i],
                                   .age = counts[ranges->ranges[i].id] - ranges->ranges[i].first};
    return 0;
}

static int add_segment(struct slice_labels *labels, uint32_t port, uint64_t reader,
                       const struct wet_ranges *ranges, const uint64_t *counts)
{
    const struct wet_writers *only = ranges->ranges;
    struct slice_segment segment = {.reader = reader,
                                    .count = (uint32_t)ranges->count,
                                    .previous = labels->last[port],
                                    .way = labels->ports[port].port.way};
    struct slice_segment *larger = grow_array(labels->segments, &labels->segment_capacity,
                                              labels->segment_count + 1, sizeof *larger);
    if (!larger || labels->segment_count >= SLICE_SEGMENT_NONE)
        return BT_MEMORY;
    labels->segments = larger;
    if (ranges->count == 1 && only->count == 1) {
        segment.id = only->id;
        segment.base = segment.way == WET_SAME_AGE ? counts[only->id] - only->first : only->first;
    } else {
        segment.base = labels->writer_count;
        if (add_writers(labels, ranges, counts) < 0)
            return BT_MEMORY;
    }
    larger[labels->segment_count] = segment;
    labels->last[port] = (uint32_t)labels->segment_count++;
    return 0;
}

int slice_labels_read(struct slice_labels *labels, uint32_t port, uint64_t reader,
                      const uint64_t *counts)
{
    struct slice_label_port *at = &labels->ports[port];
    const bool is_stored = at->port.run == 0;
    if (!is_stored)
        at->port.run = 1; /* those before were passed */
    int result =
        wet_port_get(&at->port, reader, labels->last_id, counts, &at->from, &labels->ranges);
    if (result == 0 && is_stored)
        result = add_segment(labels, port, reader, &labels->ranges, counts);
    if (result == 0 && is_stored && labels->ranges.count > WET_PREDICTED) {
        labels->ranges.count = 0; /* is not predicted for the next one */
        result = add_segment(labels, port, reader + 1, &labels->ranges, counts);
    }
    schedule(labels, port);
    return result;
}

/* --- backwards ---------------------------------------------------------------------------------
 */

struct wet_writers slice_segment_range(const struct slice_labels *labels,
                                       const struct slice_segment *segment, uint32_t i,
                                       uint64_t instance, const uint64_t *counts)
{
    const struct wet_predicted *one = &labels->writers[segment->base + i];
    struct wet_writers writers = one->writers;
    if (segment->way == WET_SAME_AGE)
        writers.first = counts[writers.id] - one->age;
    else if (segment->way == WET_SAME_DISTANCE)
        writers.first += instance - segment->reader;
    return writers;
}

int slice_labels_outcome(struct slice_labels *labels, uint32_t id, uint64_t execution)
{
    struct slice_outcome_runs *runs = &labels->outcomes[id];
    const uint64_t *ends = labels->ends + runs->first;
    while (runs->count > 1 && ends[runs->count - 2] > execution)
        runs->count--;
    if (runs->count == 0 || ends[runs->count - 1] <= execution)
        return BT_DATA;
    return runs->count & 1; /* the first run, and each other one, is true */
}
