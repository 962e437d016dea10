/* Per-branch histories that index a table of counters: the local half of a tournament predictor, or
 * a predictor alone. */
#ifndef TOOLS_RONDO_LOCAL_HISTORIES_H
#define TOOLS_RONDO_LOCAL_HISTORIES_H

#include "formats/base/named_fields.h"
#include "tools/rondo/branch.h"
#include "tools/rondo/counters.h"

/* The value of a history before it changed on a wrong path. */
struct NAMED_FIELDS local_change {
    uint64_t index;
    uint32_t history;
};

struct local_histories {
    uint32_t *histories;
    uint64_t index_mask; /* number of histories - 1 */
    uint32_t pattern;    /* mask of a history's bits */
    struct counters counters;
    bool saving;
    struct local_change *changes; /* since local_histories_save */
    size_t change_count, change_capacity;
};

/* False without memory; local_histories_clear in any case. */
bool local_histories_make(struct local_histories *local, uint32_t histories, unsigned bits,
                          unsigned counter_bits);
void local_histories_clear(struct local_histories *local);

/* As in predictor.h. */
bool local_histories_predict(const struct local_histories *local, const struct branch *branch);
void local_histories_train(struct local_histories *local, const struct branch *branch);
void local_histories_shift(struct local_histories *local, const struct branch *branch, bool taken);
void local_histories_flip(struct local_histories *local, const struct branch *branch);
void local_histories_save(struct local_histories *local);
void local_histories_restore(struct local_histories *local);

#endif
