/*
 * The text of an edge-id sequence (DCFG-trace 1.00, section 3.7.1), compiled: a graph of literals,
 * repeats and references in which every part yields at least one character and every inner part at
 * least two parts. So reading costs no more than a constant for each character it yields, however
 * the text was written: nothing is ever expanded in memory, and empty parts cost nothing.
 *
 * White space, as the specification has it in examples, is skipped. Of the two characters that the
 * specification names for 63, '-' and '.', both are read, and also plain Base64's '/'.
 */
#ifndef FORMATS_DCFG_EDGE_TEXT_INTERNAL_H
#define FORMATS_DCFG_EDGE_TEXT_INTERNAL_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"

#include <stddef.h>
#include <stdint.h>

/* How deep repeats and references may nest, counted together. */
#define EDGE_TEXT_DEPTH_MAX 1024u
#define EDGE_TEXT_KEY_MAX   255u
/* Of one text. */
#define EDGE_TEXT_BYTES_MAX ((size_t)1 << 31)

#define EDGE_TEXT_NONE UINT32_MAX

enum edge_node_kind { EDGE_LITERAL, EDGE_REPEAT, EDGE_REFERENCE };

struct NAMED_FIELDS edge_node {
    uint64_t count; /* literal: sextets; repeat: copies */
    uint32_t first; /* literal: of its sextets; repeat: of its nodes; reference: of the entry's */
    uint32_t next;  /* the node behind this one in the same list, EDGE_TEXT_NONE: the last */
    uint32_t kind;  /* an edge_node_kind */
};

/* A list of nodes, what a text is compiled to. */
struct NAMED_FIELDS edge_list {
    uint32_t first;  /* EDGE_TEXT_NONE: the text is empty */
    uint32_t depth;  /* levels below this list */
    uint64_t length; /* sextets, UINT64_MAX if that many or more */
};

/* Nodes of one or more texts. Zeroed is empty. */
struct edge_nodes {
    struct edge_node *nodes;
    size_t count, capacity;
    uint8_t *sextets; /* 0 to 63 */
    size_t sextet_count, sextet_capacity;
    struct edge_group *open; /* what compiling needs */
    size_t open_capacity;
    size_t bytes_max; /* of nodes and sextets; 0: no limit */
};

/* Memory enough for what texts of so many bytes are compiled to: four times that and a little, as
 * much as texts take that were written to be short. One of nothing but references takes twelve. */
size_t edge_text_memory(size_t bytes);

void edge_nodes_free(struct edge_nodes *nodes); /* what is inside; not *nodes itself */
void edge_nodes_clear(struct edge_nodes *nodes);

struct edge_dictionary;

/*
 * Compiles a text into nodes. The keys of references are looked up in dictionary (may be NULL:
 * there are none). 0; BT_DATA: the sentence says what is wrong at which character, counted from 1;
 * or BT_MEMORY.
 */
int edge_text_compile(struct edge_nodes *nodes, struct edge_list *list,
                      const struct edge_dictionary *dictionary, const char *text, size_t length,
                      struct bt_error *error);

/*
 * Calls found for every reference in a text, with its key and the index of its '<', without any
 * other check. Stops at and returns what found returns, if that is not 0.
 */
int edge_text_references(const char *text, size_t length,
                         int (*found)(void *context, const char *key, size_t key_length, size_t at),
                         void *context);

/* The character that a value from 0 to 63 is written as. */
char edge_text_character(unsigned value);

#endif
