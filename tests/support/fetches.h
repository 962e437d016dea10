/* Streams of instruction fetches as programs produce them. */
#ifndef TESTS_SUPPORT_FETCHES_H
#define TESTS_SUPPORT_FETCHES_H

#include "formats/record/record.h"

/* Properties of a stream; all but instructions and threads may be 0. */
struct fetches {
    uint64_t seed;
    uint32_t base;     /* address of the program */
    uint32_t span;     /* its size in bytes */
    unsigned threads;  /* number of processors that run it, at most 8 */
    unsigned jumps;    /* one in N instructions jumps, if it can; 0: none does */
    unsigned choices;  /* number of targets of a jump */
    unsigned overlaps; /* one in N fetches has another size than its instruction */
    unsigned others;   /* one in N records is not a fetch */
    unsigned burst;    /* average number of consecutive fetches of a processor */
};

/* Fills records with a stream, which depends on *fetches alone. */
void fetches_fill(const struct fetches *fetches, struct record *records, size_t count);

#endif
