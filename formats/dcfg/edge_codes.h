/*
 * Codes for words (edge_words.h): for each edge, a Huffman code of at most 32 bits for the words
 * that may follow it (DCFG-trace 1.00, section 3.5), from how often each was used.
 */
#ifndef FORMATS_DCFG_EDGE_CODES_H
#define FORMATS_DCFG_EDGE_CODES_H

#include "formats/base/named_fields.h"
#include "formats/dcfg/phrases.h"

struct NAMED_FIELDS edge_code {
    uint32_t code; /* its first bit is the highest */
    uint8_t bits;
    bool used; /* there is a row for it; else its parts stand for the word */
};

/*
 * Gives codes to the words by their uses; codes: one for each word. Joined words that were used too
 * rarely for the row they take give their uses to their parts. 0 or BT_MEMORY.
 */
int edge_codes_assign(struct edge_code *codes, struct edge_words *words, struct bt_error *error);

#endif
