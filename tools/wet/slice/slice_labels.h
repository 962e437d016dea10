/*
 * The labels of memory ports in a chunk, for reading them in any order: of each port the labels
 * that its bytes store, in between which the port's way predicts. And the outcomes of instructions.
 */
#ifndef TOOLS_WET_SLICE_SLICE_LABELS_H
#define TOOLS_WET_SLICE_SLICE_LABELS_H

#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_labels.h"
#include "tools/wet/replay/wet_replay.h"

#define SLICE_SEGMENT_NONE UINT32_MAX

/* The labels of a port from one instance up to its next segment. */
struct slice_segment {
    uint64_t reader; /* the instance */
    uint64_t base;   /* of one writer: its age, or (other ways) its instance; else the index of the
                        first one in slice_labels.writers */
    uint32_t id;     /* of the only writer, a single instance; 0: there are `count` others */
    uint32_t count;  /* number of ranges of writers */
    uint32_t previous; /* segment of the same port */
    uint8_t way;       /* enum wet_prediction */
};

struct slice_label_port;
struct slice_outcome_runs;

/* For the inline functions; private but for them. */
struct slice_labels {
    const struct wet_trace *trace;
    uint32_t last_id;
    struct slice_label_port *ports;
    uint64_t *left; /* by port: executions up to the next one that must be read; 0: that is it */
    uint32_t *last; /* by port: its segment */
    struct slice_outcome_runs *outcomes; /* by id */
    struct slice_segment *segments;
    size_t segment_count, segment_capacity;
    struct wet_predicted *writers;
    size_t writer_count, writer_capacity;
    uint64_t *ends; /* of runs of outcomes: executions before */
    size_t end_count, end_capacity;
    struct wet_ranges ranges; /* scratch */
};

/* NULL: no memory. */
struct slice_labels *slice_labels_new(const struct wet_trace *trace);
void slice_labels_free(struct slice_labels *labels);

/* Begins with a chunk, whose streams must remain. 0, BT_MEMORY or BT_DATA. */
int slice_labels_begin(struct slice_labels *labels, const struct wet_chunk *chunk, uint32_t last_id,
                       struct bt_error *error);

/* Reads the label of a port, whose number of executions left is 0. 0, BT_MEMORY or BT_DATA. */
int slice_labels_read(struct slice_labels *labels, uint32_t port, uint64_t reader,
                      const uint64_t *counts);

/*
 * Notes that an instruction with memory ports is executed. counts: by id, the numbers of instances,
 * as in wet_labels.h. 0, BT_MEMORY or BT_DATA.
 */
static inline int slice_labels_pass(struct slice_labels *labels, uint32_t id,
                                    const uint64_t *counts)
{
    const uint32_t *first_port = &labels->trace->first_port[id];
    int result = 0;
    for (uint32_t i = first_port[0]; i < first_port[1] && result == 0; i++) {
        if (labels->left[i] == 0)
            result = slice_labels_read(labels, i, counts[id] - 1, counts);
        else
            labels->left[i]--;
    }
    return result;
}

/*
 * The segment of a port's instance that was passed, and is not after one that this was called for:
 * instances come in descending order. NULL: nothing wrote what it reads.
 */
static inline const struct slice_segment *slice_labels_find(struct slice_labels *labels,
                                                            uint32_t port, uint64_t instance)
{
    uint32_t *last = &labels->last[port];
    while (*last != SLICE_SEGMENT_NONE && labels->segments[*last].reader > instance)
        *last = labels->segments[*last].previous;
    return *last == SLICE_SEGMENT_NONE ? NULL : &labels->segments[*last];
}

/* The instance of the only writer (id not 0) for a reader. counts: as they were when it was
 * executed. */
static inline uint64_t slice_segment_writer(const struct slice_segment *segment, uint64_t instance,
                                            const uint64_t *counts)
{
    switch ((enum wet_prediction)segment->way) {
    case WET_SAME_AGE:
        return counts[segment->id] - segment->base;
    case WET_SAME_DISTANCE:
        return segment->base + (instance - segment->reader);
    default:
        return segment->base;
    }
}

/* The range number i of several writers for a reader. */
struct wet_writers slice_segment_range(const struct slice_labels *labels,
                                       const struct slice_segment *segment, uint32_t i,
                                       uint64_t instance, const uint64_t *counts);

/* The outcome of an instruction's execution in the chunk, from 0, likewise in descending order;
 * or BT_DATA. */
int slice_labels_outcome(struct slice_labels *labels, uint32_t id, uint64_t execution);

#endif
