/*
 * Learns phrases (phrases.h) from a stream: repeatedly joins two frequent adjacent phrases if the
 * joined phrase saves more than its row of the transition table costs.
 */
#ifndef FORMATS_DCFG_PHRASE_LEARNER_H
#define FORMATS_DCFG_PHRASE_LEARNER_H

#include "formats/dcfg/phrases.h"

struct phrase_learner;

/* NULL: no memory. */
struct phrase_learner *phrase_learner_new(void);
void phrase_learner_free(struct phrase_learner *learner);

/*
 * Size in characters of the row of a phrase of `length` edges, in a file with edge ids up to
 * edge_max.
 */
uint64_t phrase_learner_row_cost(uint32_t length, uint32_t edge_max);

/*
 * Learns from a parsed stream. A joined phrase must save at least its row's cost divided by
 * `patience`, which is more than 1 if more similar edges are expected. Returns the number of
 * phrases learned, or BT_MEMORY.
 */
long phrase_learner_learn(struct phrase_learner *learner, struct phrases *phrases,
                          const uint32_t *stream, size_t count, unsigned patience,
                          struct bt_error *error);

#endif
