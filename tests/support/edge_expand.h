/*
 * Edge-id sequences the slow and obvious way: by substituting in strings, as section 3.7.1 of the
 * DCFG-trace specification words it. The twin of formats/edge_sequence.h.
 */
#ifndef TESTS_SUPPORT_EDGE_EXPAND_H
#define TESTS_SUPPORT_EDGE_EXPAND_H

#include <stddef.h>

struct edge_expand_entry {
    const char *key;
    const char *text;
};

/*
 * The text with everything substituted, Base64 characters only; the caller frees it. NULL if it is
 * no sequence, or becomes longer than length_max on its way.
 */
char *edge_expand(const char *text, const struct edge_expand_entry *entries, size_t count,
                  size_t length_max);

#endif
