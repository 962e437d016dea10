/* Heuristic for data without a header: whether its bytes are plausible as records of a trace. */
#ifndef FORMATS_CAPTURE_RECORD_JUDGE_H
#define FORMATS_CAPTURE_RECORD_JUDGE_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>

#define RECORD_JUDGE_MAX 1000u /* records that are judged, from the beginning */
#define RECORD_JUDGE_ODD 20u   /* at most one in this many may be odd */

/* All zero before the first record. */
struct record_judge {
    unsigned judged; /* at most RECORD_JUDGE_MAX */
    unsigned odd;    /* of those: not plausible */
};

/* Judges count more records at bytes, of RECORD_BYTES or, with lp64, of RECORD_LP64_BYTES each. */
void record_judge_add(struct record_judge *judge, const uint8_t *bytes, size_t count, bool lp64);

/* Whether the records judged so far can be a trace. */
bool record_judge_accepts(const struct record_judge *judge);

/* Whether the data cannot be a trace, independent of later records. */
bool record_judge_refuses(const struct record_judge *judge);

/*
 * Reports why the file `name` is rejected, with its first size bytes at bytes. Returns BT_IO. bytes
 * may be NULL if they are no longer available. reading: enum trace_reading.
 */
int record_judge_explain(const struct record_judge *judge, const char *name, const uint8_t *bytes,
                         size_t size, unsigned reading, struct bt_error *error);

#endif
