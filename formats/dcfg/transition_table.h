/*
 * The table that turns bits into edges (DCFG-trace 1.00, section 3.5): for an edge, codes of up to
 * 32 bits, each with the edges that follow.
 */
#ifndef FORMATS_DCFG_TRANSITION_TABLE_H
#define FORMATS_DCFG_TRANSITION_TABLE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSITION_BITS_MAX 32u
#define EDGE_ID_MAX         0x7fffffffu /* section 1.2.3; the least is 1 */

struct transition_row {
    uint32_t current; /* edge id */
    uint32_t code;    /* its first bit is the highest; zeros behind its last */
    uint32_t bits;    /* of the code, 0 to 32 */
    uint32_t next;    /* of the first of the edges that follow, in the table's edges */
    uint32_t count;   /* of edges that follow, at least 1 */
};

/* What decoding looks up. Private to transition_table.c and edge_walk.c. */
enum transition_kind { TRANSITION_NONE, TRANSITION_KNOWN, TRANSITION_LONG };

struct transition {
    uint32_t next;       /* KNOWN: as in the row; LONG: the first row that may be meant */
    uint32_t count;      /* KNOWN: as in the row; LONG: the row behind the last */
    uint32_t then_first; /* KNOWN: where the transitions from the last of these edges begin */
    uint8_t bits;
    uint8_t kind;
    uint8_t then_width; /* of the index into them, bits */
};

struct transition_table;

/* bytes_max: the most memory that it may take. NULL: no memory. */
struct transition_table *transition_table_new(size_t bytes_max);
void transition_table_free(struct transition_table *table);

/*
 * Adds a row; code holds '0' and '1'. 0; BT_DATA: an id out of range, a code of other characters or
 * too long, no edge that follows, bytes_max exceeded; BT_MEMORY.
 */
int transition_table_add(struct transition_table *table, uint32_t current, const char *code,
                         size_t code_length, const uint32_t *next, size_t count,
                         struct bt_error *error);

/*
 * Checks that no code of an edge begins another of it, and prepares decoding: needed before edges
 * are walked. 0, BT_DATA or BT_MEMORY.
 */
int transition_table_finish(struct transition_table *table, struct bt_error *error);

/* The rows, once finished sorted by edge and code, and the edges that follow. */
const struct transition_row *transition_table_rows(const struct transition_table *table,
                                                   size_t *count);
const uint32_t *transition_table_edges(const struct transition_table *table);

/* Where the transitions from an edge begin, for edge_walk.c: false if there are none. */
bool transition_table_from(const struct transition_table *table, uint32_t edge, uint32_t *first,
                           uint8_t *width);
const struct transition *transition_table_transitions(const struct transition_table *table);

/* The transition that bits, the highest first, stand for, among those of a LONG one. */
struct transition transition_table_search(const struct transition_table *table,
                                          struct transition found, uint32_t bits);

#endif
