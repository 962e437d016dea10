/*
 * Removes the records of batches that do not match an expression. What remains keeps its ticks,
 * losses and gaps; indices count the remaining records and the losses.
 */
#ifndef FORMATS_RECORD_BATCH_FILTER_H
#define FORMATS_RECORD_BATCH_FILTER_H

#include "formats/base/named_fields.h"
#include "formats/record/expression.h"

/* Must be zeroed before first use, except expression. */
struct NAMED_FIELDS batch_filter {
    const struct expression *expression; /* the caller's; its clock is set */
    uint64_t removed;                    /* number of records removed so far */
    /* private */
    uint32_t time;      /* since the last record that matched */
    uint64_t tick;      /* of the next record of rest */
    uint64_t *selected; /* bits of a batch */
    size_t selected_capacity;
    struct batch rest; /* what follows in a batch that ended early; owns its records */
    size_t rest_at;    /* of these, already examined */
    size_t rest_bit;   /* bit of the first of them */
};

/*
 * Removes records of a batch, in place; all may go. A time that does not fit into a record ends the
 * batch, because only the first tick of a batch can say how long that was: batch_filter_more
 * returns the rest, before the next batch. 0 or BT_MEMORY.
 */
int batch_filter_put(struct batch_filter *filter, struct batch *batch, struct bt_error *error);

/* Moves matching records of the rest to a batch with room for batch->capacity, 1 at least. False,
 * with the batch unchanged: there is no rest. */
bool batch_filter_more(struct batch_filter *filter, struct batch *batch);

/* Frees the memory. */
void batch_filter_clear(struct batch_filter *filter);

#endif
