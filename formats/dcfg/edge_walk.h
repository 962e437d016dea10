/*
 * Walks the edges of a chunk (DCFG-trace 1.00, section 3.7.2): from its first edge, along the
 * transition table, selected by the bits of its sequence.
 */
#ifndef FORMATS_DCFG_EDGE_WALK_H
#define FORMATS_DCFG_EDGE_WALK_H

#include "formats/dcfg/edge_sequence.h"
#include "formats/dcfg/transition_table.h"

struct edge_walk;

/* NULL: no memory. One object can walk any number of chunks. */
struct edge_walk *edge_walk_new(void);
void edge_walk_free(struct edge_walk *walk);

/*
 * Begins a chunk of count edges, with the first edge. The table (finished) and the sequence
 * (started, at its beginning) must not change while the chunk is walked.
 */
void edge_walk_start(struct edge_walk *walk, const struct transition_table *table,
                     struct edge_sequence *sequence, uint32_t first, uint64_t count);

/*
 * The next edges, at most capacity. Returns their number, 0 only at the end; or BT_DATA: the
 * sequence ends too early, or has bits without a transition, with the position; earlier calls have
 * returned the edges before it.
 */
long edge_walk_read(struct edge_walk *walk, uint32_t *edges, size_t capacity,
                    struct bt_error *error);

/* At the end: the number of unused characters of the sequence; 0 in a valid file. */
uint64_t edge_walk_unused(const struct edge_walk *walk);

#endif
