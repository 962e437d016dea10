/*
 * The compiled text of an edge-id sequence (DCFG-trace 1.00, section 3.7.1): a graph of literals,
 * repeats and references in which every part yields at least one character and every inner part at
 * least two parts. So reading costs at most a constant for each character, however the text was
 * written: nothing is expanded in memory, and empty parts cost nothing.
 *
 * White space is skipped, because the specification's examples contain it. 63 is '-', the last
 * character of the set that section 3.7.1.1 maps to the values in order. Its words name '.' as what
 * replaces the '/' of plain Base64; neither is in the set, so they are refused.
 */
#ifndef FORMATS_DCFG_EDGE_TEXT_INTERNAL_H
#define FORMATS_DCFG_EDGE_TEXT_INTERNAL_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"

#include <stddef.h>
#include <stdint.h>

/* Limit of the nesting of repeats and references together. */
#define EDGE_TEXT_DEPTH_MAX 1024u
#define EDGE_TEXT_KEY_MAX   255u
/* Limit of one text. */
#define EDGE_TEXT_BYTES_MAX ((size_t)1 << 31)

#define EDGE_TEXT_NONE UINT32_MAX

enum edge_node_kind { EDGE_LITERAL, EDGE_REPEAT, EDGE_REFERENCE };

struct NAMED_FIELDS edge_node {
    uint64_t count; /* literal: sextets; repeat: copies */
    uint32_t first; /* index of the first sextet of a literal, node of a repeat, or node of the
                       referenced entry */
    uint32_t next;  /* the next node in the same list; EDGE_TEXT_NONE: none */
    uint32_t kind;  /* an edge_node_kind */
};

/* A list of nodes: a compiled text. */
struct NAMED_FIELDS edge_list {
    uint32_t first;  /* EDGE_TEXT_NONE: the text is empty */
    uint32_t depth;  /* levels below this list */
    uint64_t length; /* in sextets, at most UINT64_MAX */
};

/* Nodes of one or more texts. Zeroed is empty. */
struct edge_nodes {
    struct edge_node *nodes;
    size_t count, capacity;
    uint8_t *sextets; /* values 0 to 63 */
    size_t sextet_count, sextet_capacity;
    struct edge_group *open; /* state of the compiler */
    size_t open_capacity;
    size_t bytes_max; /* memory limit of nodes and sextets; 0: none */
};

/* Memory for the compiled form of texts of this size: slightly more than four times it, which
 * suffices for texts that are written compactly. A text of only references takes twelve times. */
size_t edge_text_memory(size_t bytes);

void edge_nodes_free(struct edge_nodes *nodes); /* frees the contents, not *nodes itself */
void edge_nodes_clear(struct edge_nodes *nodes);

struct edge_dictionary;

/*
 * Compiles a text into nodes. The keys of references are looked up in dictionary (may be NULL: no
 * keys). 0; BT_DATA: the message names the error and its character, counted from 1; or BT_MEMORY.
 */
int edge_text_compile(struct edge_nodes *nodes, struct edge_list *list,
                      const struct edge_dictionary *dictionary, const char *text, size_t length,
                      struct bt_error *error);

/*
 * Calls found for every reference in a text, with its key and the index of its '<', without other
 * checks. Stops if found returns a value other than 0, and returns it.
 */
int edge_text_references(const char *text, size_t length,
                         int (*found)(void *context, const char *key, size_t key_length, size_t at),
                         void *context);

/* The character for a value from 0 to 63. */
char edge_text_character(unsigned value);

#endif
