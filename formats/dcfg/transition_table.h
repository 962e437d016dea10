/*
 * The table that maps bits to edges (DCFG-trace 1.00, section 3.5): for each edge, codes of up to
 * 32 bits, each with the edges that follow.
 */
#ifndef FORMATS_DCFG_TRANSITION_TABLE_H
#define FORMATS_DCFG_TRANSITION_TABLE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSITION_BITS_MAX 32u
#define EDGE_ID_MAX         0x7fffffffu /* section 1.2.3; the smallest is 1 */

struct transition_row {
    uint32_t current; /* edge id */
    uint32_t code;    /* left-aligned: its first bit is the highest, followed by zeros */
    uint32_t bits;    /* of the code, 0 to 32 */
    uint32_t next;    /* index of the first following edge, in the table's edges */
    uint32_t count;   /* number of following edges, at least 1 */
};

/* An entry of the decoding index. Private to transition_table.c and edge_walk.c. */
enum transition_kind { TRANSITION_NONE, TRANSITION_KNOWN, TRANSITION_LONG };

struct transition {
    uint32_t next;       /* KNOWN: as in the row; LONG: the first row to search */
    uint32_t count;      /* KNOWN: as in the row; LONG: the row after the last */
    uint32_t then_first; /* KNOWN: start of the transitions from the last of these edges */
    uint8_t bits;
    uint8_t kind;
    uint8_t then_width; /* width of the index into them, in bits */
};

struct transition_table;

/* bytes_max: memory limit. NULL: no memory. */
struct transition_table *transition_table_new(size_t bytes_max);
void transition_table_free(struct transition_table *table);

/*
 * Adds a row; code consists of '0' and '1'. 0; BT_DATA: an id out of range, a code with other
 * characters or too long, no following edge, bytes_max exceeded; BT_MEMORY.
 */
int transition_table_add(struct transition_table *table, uint32_t current, const char *code,
                         size_t code_length, const uint32_t *next, size_t count,
                         struct bt_error *error);

/*
 * Checks that no code of an edge is a prefix of another one, and prepares decoding: required before
 * edges are walked. 0, BT_DATA or BT_MEMORY.
 */
int transition_table_finish(struct transition_table *table, struct bt_error *error);

/* The rows, once finished sorted by edge and code, and the following edges. */
const struct transition_row *transition_table_rows(const struct transition_table *table,
                                                   size_t *count);
const uint32_t *transition_table_edges(const struct transition_table *table);

/* The start of the transitions from an edge, for edge_walk.c: false if there are none. */
bool transition_table_from(const struct transition_table *table, uint32_t edge, uint32_t *first,
                           uint8_t *width);
const struct transition *transition_table_transitions(const struct transition_table *table);

/* The transition for bits, the highest first, among those of a LONG one. */
struct transition transition_table_search(const struct transition_table *table,
                                          struct transition found, uint32_t bits);

#endif
