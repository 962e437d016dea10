/*
 * Reads an edge-id sequence (DCFG-trace 1.00, section 3.7.1): from its text to the values of its
 * characters, six bits each, a few at a time. Nothing is expanded in memory; the work is bounded by
 * the text, once, and by what is asked for.
 */
#ifndef FORMATS_DCFG_EDGE_SEQUENCE_H
#define FORMATS_DCFG_EDGE_SEQUENCE_H

#include "formats/dcfg/edge_dictionary.h"

struct edge_sequence;

/* NULL: no memory. One object reads any number of sequences, one after the other. */
struct edge_sequence *edge_sequence_new(void);

/* The most memory that a text may take once it is compiled, bytes: more is BT_DATA. 0, as at first:
 * no limit. */
void edge_sequence_set_limit(struct edge_sequence *sequence, size_t bytes_max);
void edge_sequence_free(struct edge_sequence *sequence);

/*
 * Begins with a text, which is not needed any more afterwards. The dictionary (finished; may be
 * NULL) must stay as it is while the sequence is read. 0; BT_DATA: the text is no sequence, said
 * with the place in it; BT_MEMORY. After a failure the sequence is empty.
 */
int edge_sequence_start(struct edge_sequence *sequence, const struct edge_dictionary *dictionary,
                        const char *text, size_t length, struct bt_error *error);

/* How many characters the sequence is when all is substituted; UINT64_MAX: that many or more. */
uint64_t edge_sequence_length(const struct edge_sequence *sequence);

/* The next values, each 0 to 63. Returns how many: fewer than capacity only at the end. */
size_t edge_sequence_read(struct edge_sequence *sequence, uint8_t *values, size_t capacity);

#endif
