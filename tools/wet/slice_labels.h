/*
 * The labels of memory ports in a chunk, for reading them in any order: of each port the labels
 * that its bytes store, in between which the port's way predicts. And the outcomes of instructions.
 */
#ifndef TOOLS_WET_SLICE_LABELS_H
#define TOOLS_WET_SLICE_LABELS_H

#include "formats/wet/wet_chunk.h"
#include "formats/wet/wet_labels.h"
#include "tools/wet/wet_replay.h"

struct slice_labels;

/* NULL: no memory. */
struct slice_labels *slice_labels_new(const struct wet_trace *trace);
void slice_labels_free(struct slice_labels *labels);

/* Begins with a chunk, whose streams must remain. 0, BT_MEMORY or BT_DATA. */
int slice_labels_begin(struct slice_labels *labels, const struct wet_chunk *chunk, uint32_t last_id,
                       struct bt_error *error);

/*
 * Notes that an instruction with memory ports is executed. counts: by id, the numbers of instances,
 * as in wet_labels.h. 0, BT_MEMORY or BT_DATA.
 */
int slice_labels_pass(struct slice_labels *labels, uint32_t id, const uint64_t *counts);

/*
 * Appends the label of an instance that was passed, which was not before one that this was called
 * for: instances come in descending order. counts: as they were when the instruction was executed.
 * 0, BT_MEMORY or BT_DATA.
 */
int slice_labels_get(struct slice_labels *labels, uint32_t id, uint32_t operand, uint64_t instance,
                     const uint64_t *counts, struct wet_ranges *to);

/* The outcome of an instruction's execution in the chunk, from 0, likewise in descending order;
 * or BT_DATA. */
int slice_labels_outcome(struct slice_labels *labels, uint32_t id, uint64_t execution);

#endif
