/*
 * Edge-id sequences decoded in the slow and obvious way: by substitution in strings, as section
 * 3.7.1 of the DCFG-trace specification words it; and the edges that they give. The twin of
 * formats/dcfg/edge_sequence.h and formats/dcfg/edge_walk.h.
 */
#ifndef TESTS_SUPPORT_EDGE_EXPAND_H
#define TESTS_SUPPORT_EDGE_EXPAND_H

#include "formats/base/named_fields.h"

#include <stddef.h>
#include <stdint.h>

struct NAMED_FIELDS edge_expand_entry {
    const char *key;
    const char *text;
};

/*
 * Returns the text with everything substituted, Base64 characters only; the caller frees it. NULL
 * if it is no sequence, or becomes longer than length_max on its way.
 */
char *edge_expand(const char *text, const struct edge_expand_entry *entries, size_t count,
                  size_t length_max);

struct NAMED_FIELDS edge_expand_row {
    uint32_t current;
    const char *code;
    const uint32_t *next;
    size_t count;
};

/*
 * Walks a table as section 3.5 words it: reads one more bit until the bits are a code of the
 * current edge. sequence is what edge_expand returned. Fills edges, first included, and returns
 * how many it found, at most count: fewer if bits or transitions are missing.
 */
size_t edge_expand_walk(uint32_t *edges, size_t count, uint32_t first, const char *sequence,
                        const struct edge_expand_row *rows, size_t row_count);

#endif
