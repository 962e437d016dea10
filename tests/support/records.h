/* Records for tests. */
#ifndef TESTS_SUPPORT_RECORDS_H
#define TESTS_SUPPORT_RECORDS_H

#include "formats/record/record.h"

/* Fills in records as a bus produces them: a few streams of addresses, common types and sizes,
 * small times. */
void records_fill_like_a_bus(struct record *records, size_t count, uint64_t *random);

/* Records with every field random; types from byutr.h only. */
void records_fill_random(struct record *records, size_t count, uint64_t *random);

/* The records of doc/wire-protocol.md, "Worked example" and "Packed records". */
#define RECORDS_WORKED_EXAMPLE 6u
extern const struct record records_worked_example[RECORDS_WORKED_EXAMPLE];

#endif
