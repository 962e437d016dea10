/*
 * The part of a trace that is wanted: a time, and of that a number of records after a number of
 * skipped ones. A loss, and a gap, belongs to the part with the record after it; if times limit the
 * part, a loss belongs to it if its last tick does.
 */
#ifndef TOOLS_CUT_CUT_RANGE_H
#define TOOLS_CUT_CUT_RANGE_H

#include "formats/base/named_fields.h"
#include "formats/record/batch.h"

/* The counts decrease, and first_tick becomes 0, while batches are taken in order. */
struct NAMED_FIELDS cut_range {
    uint64_t first_tick, last_tick; /* both included; UINT64_MAX: to the end */
    uint64_t skip;                  /* records of this time still to be skipped */
    uint64_t left;                  /* records still to be taken; UINT64_MAX: all */
};

/* What becomes of a batch. */
enum cut_fate {
    CUT_PASSED, /* it is before the part */
    CUT_WHOLE,  /* all of it is wanted */
    CUT_PART,   /* some of it may be: cut_range_trim decides */
    CUT_PAST    /* it is after the part, and so is everything after it */
};

/* Decides from a description, without records. CUT_PASSED and CUT_WHOLE count its records. */
enum cut_fate cut_range_judge(struct cut_range *range, const struct batch *description);

/* Removes from a batch with CUT_PART what is not wanted, and counts the rest. Times and indices
 * stay. */
void cut_range_trim(struct cut_range *range, struct batch *batch);

/* Of a batch with CUT_PAST: keeps the loss before it if that is wanted. tick: of the record before
 * it. False: nothing is. */
bool cut_range_trim_past(const struct cut_range *range, struct batch *batch, uint64_t tick);

/* Whether losses after the end of the trace, at this tick or later, are wanted. */
bool cut_range_has_end(const struct cut_range *range, uint64_t tick);

#endif
