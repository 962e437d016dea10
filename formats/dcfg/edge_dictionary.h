/*
 * The string dictionary of a trace (DCFG-trace 1.00, section 3.4): texts of edge-id sequences by
 * key, which may refer to each other, but not in a cycle.
 *
 * The specification states both that a dictionary belongs to its process and that following
 * processes use it. So the entries of earlier processes are kept; a later entry replaces an earlier
 * one of the same key.
 */
#ifndef FORMATS_DCFG_EDGE_DICTIONARY_H
#define FORMATS_DCFG_EDGE_DICTIONARY_H

#include "formats/dcfg/edge_text_internal.h"

struct edge_dictionary;

/*
 * bytes_max: memory limit of keys, texts and about 100 bytes for each entry; the compiled texts may
 * take four times as much. NULL: no memory.
 */
struct edge_dictionary *edge_dictionary_new(size_t bytes_max);
void edge_dictionary_free(struct edge_dictionary *dictionary);

/*
 * Adds an entry; key and text are copied. 0; BT_DATA: the key was added since the last
 * edge_dictionary_finish, or bytes_max is exceeded; BT_MEMORY.
 */
int edge_dictionary_add(struct edge_dictionary *dictionary, const char *key, size_t key_length,
                        const char *text, size_t length, struct bt_error *error);

/*
 * Compiles the added entries, before sequences are read. Time and memory are proportional to the
 * texts. 0; BT_DATA: an entry is invalid, or refers to itself or to a missing key, and the
 * dictionary can then only be freed; BT_MEMORY.
 */
int edge_dictionary_finish(struct edge_dictionary *dictionary, struct bt_error *error);

/* The compiled text of a key, or NULL: for edge_text_compile. dictionary may be NULL: it has no
 * keys. */
const struct edge_list *edge_dictionary_find(const struct edge_dictionary *dictionary,
                                             const char *key, size_t key_length);

/* The nodes of the lists that edge_dictionary_find returns. NULL for NULL. */
const struct edge_nodes *edge_dictionary_nodes(const struct edge_dictionary *dictionary);

#endif
