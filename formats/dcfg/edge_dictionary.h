/*
 * The string dictionary of a trace (DCFG-trace 1.00, section 3.4): texts of edge-id sequences under
 * keys, which may refer to each other but not in a circle.
 *
 * The specification says both that a dictionary is its process's and that following processes use
 * it. So the entries of earlier processes stay; a later entry hides an earlier one of the same key.
 */
#ifndef FORMATS_DCFG_EDGE_DICTIONARY_H
#define FORMATS_DCFG_EDGE_DICTIONARY_H

#include "formats/dcfg/edge_text_internal.h"

struct edge_dictionary;

/*
 * bytes_max: the most that keys, texts and some 100 bytes for each entry may take together; what
 * the texts are compiled to may take four times as much. NULL: no memory.
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
 * Compiles what was added: needed before sequences are read. In time and memory proportional to the
 * texts. 0; BT_DATA: an entry is no sequence, or refers to itself or to what is not there; the
 * dictionary is then of no use any more; BT_MEMORY.
 */
int edge_dictionary_finish(struct edge_dictionary *dictionary, struct bt_error *error);

/* What a key stands for, or NULL: for edge_text_compile. dictionary may be NULL: it has no key. */
const struct edge_list *edge_dictionary_find(const struct edge_dictionary *dictionary,
                                             const char *key, size_t key_length);

/* Where the lists that edge_dictionary_find returns have their nodes. NULL for NULL. */
const struct edge_nodes *edge_dictionary_nodes(const struct edge_dictionary *dictionary);

#endif
