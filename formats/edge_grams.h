/*
 * Which characters of edge-id sequences are part of a string that is there twice. For
 * edge_grammar.c: what is not need not be looked at again, so that noise costs little.
 */
#ifndef FORMATS_EDGE_GRAMS_H
#define FORMATS_EDGE_GRAMS_H

#include <stddef.h>
#include <stdint.h>

/* Strings shorter than this are not worth a reference. */
#define EDGE_GRAM 6u

/* Set in a symbol: it and the one behind it are in a string of EDGE_GRAM that is there twice. */
#define EDGE_LINKED 0x80000000u

struct edge_grams;

/* NULL: no memory. */
struct edge_grams *edge_grams_new(void);
void edge_grams_free(struct edge_grams *grams);

/* Begins a window. Strings that were there twice in earlier ones count from their first time on. */
void edge_grams_begin(struct edge_grams *grams);

/*
 * Fills symbols from the values (0 to 63) from begin to end, one sequence of the window; those
 * before begin, of its earlier sequences, may get links.
 */
void edge_grams_link(struct edge_grams *grams, const uint8_t *values, uint32_t *symbols,
                     size_t begin, size_t end);

#endif
