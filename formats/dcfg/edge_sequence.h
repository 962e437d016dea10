/*
 * Reads an edge-id sequence (DCFG-trace 1.00, section 3.7.1): converts its text to the values of
 * its characters, six bits each. Nothing is expanded in memory; the work is bounded by the text,
 * once, and by the number of values read.
 */
#ifndef FORMATS_DCFG_EDGE_SEQUENCE_H
#define FORMATS_DCFG_EDGE_SEQUENCE_H

#include "formats/dcfg/edge_dictionary.h"

struct edge_sequence;

/* NULL: no memory. One object can read any number of sequences. */
struct edge_sequence *edge_sequence_new(void);

/* Limits the memory of a compiled text, in bytes: more is BT_DATA. 0, the default: no limit. */
void edge_sequence_set_limit(struct edge_sequence *sequence, size_t bytes_max);
void edge_sequence_free(struct edge_sequence *sequence);

/*
 * Begins with a text, which is not needed afterwards. The dictionary (finished; may be NULL) must
 * not change while the sequence is read. 0; BT_DATA: the text is not a sequence, with the
 * character's position; BT_MEMORY. After a failure the sequence is empty.
 */
int edge_sequence_start(struct edge_sequence *sequence, const struct edge_dictionary *dictionary,
                        const char *text, size_t length, struct bt_error *error);

/* The number of characters after all substitutions; at most UINT64_MAX. */
uint64_t edge_sequence_length(const struct edge_sequence *sequence);

/* The next values, each 0 to 63. Returns their number: less than capacity only at the end. */
size_t edge_sequence_read(struct edge_sequence *sequence, uint8_t *values, size_t capacity);

#endif
