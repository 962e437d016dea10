/*
 * Walks the edges of a chunk (DCFG-trace 1.00, section 3.7.2): from its first edge, along the
 * transition table, led by the bits of its sequence.
 */
#ifndef FORMATS_DCFG_EDGE_WALK_H
#define FORMATS_DCFG_EDGE_WALK_H

#include "formats/dcfg/edge_sequence.h"
#include "formats/dcfg/transition_table.h"

struct edge_walk;

/* NULL: no memory. One object walks any number of chunks, one after the other. */
struct edge_walk *edge_walk_new(void);
void edge_walk_free(struct edge_walk *walk);

/*
 * Begins a chunk: count edges, the first of them given. The table (finished) and the sequence
 * (started, at its beginning) must stay while the chunk is walked.
 */
void edge_walk_start(struct edge_walk *walk, const struct transition_table *table,
                     struct edge_sequence *sequence, uint32_t first, uint64_t count);

/*
 * The next edges, at most capacity. Returns how many, 0 only at the end; or BT_DATA: the sequence
 * ends too early, or there is no transition for its bits, said with the place; the edges before it
 * were given by earlier calls.
 */
long edge_walk_read(struct edge_walk *walk, uint32_t *edges, size_t capacity,
                    struct bt_error *error);

/* At the end: how many characters of the sequence were not needed; 0 in a good file. */
uint64_t edge_walk_unused(const struct edge_walk *walk);

#endif
