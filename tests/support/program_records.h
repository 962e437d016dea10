/* Records of a program that never was, for tests: blocks in a random graph, with the kinds of
 * addresses that programs have. */
#ifndef TESTS_SUPPORT_PROGRAM_RECORDS_H
#define TESTS_SUPPORT_PROGRAM_RECORDS_H

#include "formats/record/record.h"

#define PROGRAM_RECORDS_THREADS 1u /* records of several processors, in turns */
#define PROGRAM_RECORDS_EVENTS  2u /* attributes with events and parts */
#define PROGRAM_RECORDS_REP     4u /* string instructions, also with fetches of time 0 */
#define PROGRAM_RECORDS_NOISE   8u /* records that belong to no block, and changed ones */
#define PROGRAM_RECORDS_ALL     15u

/* Fills in `count` records; `kinds` is a sum of the above. */
void program_records_fill(struct record *records, size_t count, unsigned kinds, uint64_t *random);

#endif
