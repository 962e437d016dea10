/*
 * Finds what repeats in the characters of edge-id sequences, and writes it as consecutive repeats
 * and references to a string dictionary (DCFG-trace 1.00, sections 3.4 and 3.7.1).
 *
 * A window of characters becomes a grammar: the pair of neighbours that is found most often becomes
 * a symbol of its own, runs of one symbol become a repeat, and so on until no pair is left that is
 * there twice. Symbols whose text is worth it become entries of the dictionary; entries of earlier
 * windows are used first. Memory is proportional to the window and the dictionary.
 */
#ifndef FORMATS_EDGE_GRAMMAR_H
#define FORMATS_EDGE_GRAMMAR_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"

#include <stddef.h>
#include <stdint.h>

#define EDGE_GRAMMAR_KEY_MAX 6u

struct edge_grammar;

/* Text that grows. Zeroed is empty; free(text.text). */
struct NAMED_FIELDS edge_grammar_text {
    char *text;
    size_t length, capacity;
};

/* NULL: no memory. */
struct edge_grammar *edge_grammar_new(void);
void edge_grammar_free(struct edge_grammar *grammar);

/*
 * Takes a window: the values (0 to 63) of count sequences, one behind the other; ends[i] is where
 * sequence i ends. Together at most 2^30. 0 or BT_MEMORY.
 */
int edge_grammar_window(struct edge_grammar *grammar, const uint8_t *values, const size_t *ends,
                        size_t count, struct bt_error *error);

/* Appends the text of sequence number i of the last window. 0 or BT_MEMORY. */
int edge_grammar_sequence(const struct edge_grammar *grammar, size_t i,
                          struct edge_grammar_text *text, struct bt_error *error);

/*
 * The dictionary, once all windows were taken: the key of entry number i (ended with 0), and its
 * text appended. 0 or BT_MEMORY.
 */
size_t edge_grammar_entries(const struct edge_grammar *grammar);
int edge_grammar_entry(const struct edge_grammar *grammar, size_t i,
                       char key[EDGE_GRAMMAR_KEY_MAX + 1], struct edge_grammar_text *text,
                       struct bt_error *error);

#endif
