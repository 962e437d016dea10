/*
 * Learns words (edge_words.h) from a stream: two that often stand next to each other are joined,
 * again and again, where the row of the transition table that it takes is worth it.
 */
#ifndef FORMATS_DCFG_PHRASE_LEARNER_H
#define FORMATS_DCFG_PHRASE_LEARNER_H

#include "formats/dcfg/phrases.h"

struct edge_learner;

/* NULL: no memory. */
struct edge_learner *edge_learner_new(void);
void edge_learner_free(struct edge_learner *learner);

/*
 * Characters that the row of a word of that many edges takes in a file where edges go up to
 * edge_max.
 */
uint64_t edge_learn_row_cost(uint32_t length, uint32_t edge_max);

/*
 * Learns from a stream that was cut into words. A joined word must be there so often that it saves
 * its row's cost divided by `patience`: more than 1 if more of the kind is expected to come.
 * Returns how many words were learned, or BT_MEMORY.
 */
long edge_learn(struct edge_learner *learner, struct edge_words *words, const uint32_t *stream,
                size_t count, unsigned patience, struct bt_error *error);

#endif
