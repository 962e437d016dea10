/* Whether the records of a data member belong where its header says: rules 7 to 9 of
 * doc/capture-file.md. */
#ifndef FORMATS_CAPTURE_MEMBER_TICKS_H
#define FORMATS_CAPTURE_MEMBER_TICKS_H

#include "formats/base/error.h"
#include "formats/record/batch.h"

/* Up to where the data members before go. */
struct member_ticks {
    bool known;    /* there is one, and none is missing after it */
    bool exact;    /* tick is that of a record, and nothing is missing after it */
    uint64_t tick; /* its last tick */
};

/* Compares a member's first and last tick with the times of its records. 0 or BT_DATA. */
int member_ticks_within(const struct batch *batch, struct bt_error *error);

/*
 * Compares a member's first tick with the members before. time: that of its first record; timed: it
 * has one, without a loss or gap before it. 0 or BT_DATA.
 */
int member_ticks_follow(const struct member_ticks *before, uint64_t first_tick, bool timed,
                        uint32_t time, struct bt_error *error);

/* The members now end with batch, a whole data member. */
void member_ticks_advance(struct member_ticks *ticks, const struct batch *batch);

#endif
