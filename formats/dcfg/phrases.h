/*
 * Phrases: sequences of edges that are coded as one transition (DCFG-trace 1.00, section 3.5). A
 * stream of edges is parsed greedily into phrases: the longest active one that matches. A phrase
 * belongs to the edge before it, as a row of the transition table does.
 *
 * Where no phrase matches, the parser adds a basic one: the next edge, and the edges that have
 * always followed so far. phrase_learner.h joins phrases into longer ones.
 */
#ifndef FORMATS_DCFG_PHRASES_H
#define FORMATS_DCFG_PHRASES_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length limit of a phrase, in edges. */
#define PHRASE_EDGES_MAX 128u

struct phrase {
    uint64_t uses;     /* counted by the caller */
    uint32_t before;   /* edge before the phrase */
    uint32_t last;     /* last edge of the phrase */
    uint32_t length;   /* in edges */
    uint32_t parts[2]; /* joined: the numbers of its two phrases; basic: 0, offset in runs */
    bool active;       /* the parser uses it */
};

struct phrases {
    struct phrase *items; /* item 0 is unused */
    size_t count, capacity;
    uint32_t *runs; /* edges of basic phrases */
    size_t run_count, run_capacity;
    uint32_t edge_max;
    struct phrases_tree *tree; /* private: prefix trees of the active phrases */
};

/* Edges are 1 to edge_max; memory is proportional to that. 0 or BT_MEMORY. */
int phrases_begin(struct phrases *phrases, uint32_t edge_max, struct bt_error *error);
void phrases_free(struct phrases *phrases); /* frees the contents, not *phrases */

/* Records which edge follows which. Call this with all edges before phrases_parse. */
void phrases_observe(struct phrases *phrases, const uint32_t *edges, size_t count);

/*
 * Parses edges[1..] into phrases; edges[0] is only context. parsed has room for count numbers;
 * *phrase_count is their number. *cut is the index of the first edge that is not parsed: less than
 * count only with `more`, which says that further edges may change the last phrase. 0 or BT_MEMORY.
 */
int phrases_parse(struct phrases *phrases, const uint32_t *edges, size_t count, bool more,
                  uint32_t *parsed, size_t *phrase_count, size_t *cut, struct bt_error *error);

/* Adds the concatenation of two phrases, not active yet. Its number; 0: no memory. */
uint32_t phrases_join(struct phrases *phrases, uint32_t first, uint32_t second);

/* Removes the phrases from number count on. None may be active or part of an active one. */
void phrases_drop(struct phrases *phrases, size_t count);

/*
 * Makes a phrase active. Returns 1; 0 if an active phrase has the same edges already or the trees
 * have reached their size limit; or BT_MEMORY.
 */
int phrases_activate(struct phrases *phrases, uint32_t phrase, struct bt_error *error);

/* Writes the edges of a phrase to edges, which has room for its length. */
void phrases_expand(const struct phrases *phrases, uint32_t phrase, uint32_t *edges);

#endif
