/* Streams of instruction fetches, as programs make them that nobody wrote. */
#ifndef TESTS_SUPPORT_FETCHES_H
#define TESTS_SUPPORT_FETCHES_H

#include "formats/record/record.h"

/* What a stream is like; all zero but instructions and threads is plain. */
struct fetches {
    uint64_t seed;
    uint32_t base;     /* address of the program */
    uint32_t span;     /* bytes of it */
    unsigned threads;  /* processors that run it, at most 8 */
    unsigned jumps;    /* one instruction in so many jumps when it can; 0: none does */
    unsigned choices;  /* targets that a jump chooses from */
    unsigned overlaps; /* one fetch in so many has another size than the instruction has */
    unsigned others;   /* one record in so many is no fetch */
    unsigned burst;    /* fetches of one processor in a row, about */
};

/* Fills records with a stream; the same for the same *fetches. */
void fetches_fill(const struct fetches *fetches, struct record *records, size_t count);

#endif
