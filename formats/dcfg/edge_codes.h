/*
 * Codes for phrases (phrases.h): for each edge, a Huffman code of at most 32 bits for the phrases
 * that may follow it (DCFG-trace 1.00, section 3.5), from their numbers of uses.
 */
#ifndef FORMATS_DCFG_EDGE_CODES_H
#define FORMATS_DCFG_EDGE_CODES_H

#include "formats/base/named_fields.h"
#include "formats/dcfg/phrases.h"

struct NAMED_FIELDS edge_code {
    uint32_t code; /* left-aligned: its first bit is bit 31 */
    uint8_t bits;
    bool used; /* it has a row; else its parts are written instead */
};

/*
 * Assigns codes[i] to phrase i by the phrases' uses. A joined phrase whose row costs more than it
 * saves gets none, and its uses are added to its parts'. 0 or BT_MEMORY.
 */
int edge_codes_assign(struct edge_code *codes, struct phrases *phrases, struct bt_error *error);

#endif
