/* Whether bytes without a header can be the records of a trace: nothing but the records tells. */
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

/*
 * Whether a request can be what the record says: a type of byutr.h, an attribute of 3 bits, and a
 * size of 0 to 64, 128 or 255 (which also stands for more). A record whose bytes are all zero is
 * not plausible: it is a hole in a file.
 */
bool record_is_plausible(const struct record *record);

/* Judges count more records at bytes, of RECORD_BYTES or, with lp64, of RECORD_LP64_BYTES each. */
void record_judge_add(struct record_judge *judge, const uint8_t *bytes, size_t count, bool lp64);

/* Whether what was judged so far can be a trace. */
bool record_judge_accepts(const struct record_judge *judge);

/* Whether it cannot be one, whatever comes next. */
bool record_judge_refuses(const struct record_judge *judge);

/*
 * Says why the bytes of name, of which size from the beginning are given, are refused. BT_IO.
 * bytes may be NULL where they are not there any more. reading: enum trace_reading.
 */
int record_judge_explain(const struct record_judge *judge, const char *name, const uint8_t *bytes,
                         size_t size, unsigned reading, struct bt_error *error);

#endif
