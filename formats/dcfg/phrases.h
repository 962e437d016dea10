/*
 * Words: runs of edges that become one transition (DCFG-trace 1.00, section 3.5). A stream of edges
 * is cut into words, the longest known one each time; a word is known for the edge before it, as a
 * row of the transition table is.
 *
 * Basic words are made where none fits: one edge, and those that have always followed so far.
 * Longer ones are put together by edge_learn.h.
 */
#ifndef FORMATS_DCFG_PHRASES_H
#define FORMATS_DCFG_PHRASES_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest word, edges. */
#define EDGE_WORD_MAX 128u

struct edge_word {
    uint64_t uses;     /* kept by the user */
    uint32_t before;   /* the edge before it */
    uint32_t last;     /* its last edge */
    uint32_t length;   /* edges */
    uint32_t parts[2]; /* the words that it is made of; basic: 0 and where its edges are in runs */
    bool known;        /* it is found when a stream is cut */
};

struct edge_words {
    struct edge_word *words; /* number 0 is none */
    size_t count, capacity;
    uint32_t *runs; /* edges of basic words */
    size_t run_count, run_capacity;
    uint32_t edge_max;
    struct edge_words_tree *tree; /* private: to find words by their edges */
};

/* Edges are 1 to edge_max; memory is proportional to that. 0 or BT_MEMORY. */
int edge_words_begin(struct edge_words *words, uint32_t edge_max, struct bt_error *error);
void edge_words_free(struct edge_words *words); /* what is inside; not *words itself */

/* Sees which edges follow which: all edges pass here before they are cut. */
void edge_words_see(struct edge_words *words, const uint32_t *edges, size_t count);

/*
 * Cuts edges, of which the first is given otherwise, into words; room for count. *word_count says
 * how many, *cut where the next word would begin: before count if `more` edges follow, which could
 * change the last word. 0 or BT_MEMORY.
 */
int edge_words_cut(struct edge_words *words, const uint32_t *edges, size_t count, bool more,
                   uint32_t *cut_words, size_t *word_count, size_t *cut, struct bt_error *error);

/* Adds a word made of two, not known yet. Its number, or 0: no memory. */
uint32_t edge_words_join(struct edge_words *words, uint32_t first, uint32_t second);

/* Forgets the words from number count on, none of which is known or part of a known one. */
void edge_words_drop(struct edge_words *words, size_t count);

/*
 * Makes a word known. Returns 1, 0 if there is a known one of the same edges already or no more
 * room is given to words, or BT_MEMORY.
 */
int edge_words_know(struct edge_words *words, uint32_t word, struct bt_error *error);

/* The edges of a word; room for its length. */
void edge_words_edges(const struct edge_words *words, uint32_t word, uint32_t *edges);

#endif
