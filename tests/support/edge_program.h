/*
 * Streams of edge ids as programs produce them: executes a random program of blocks, loops,
 * conditions, switches and calls, and numbers the edges between its blocks as they appear.
 */
#ifndef TESTS_SUPPORT_EDGE_PROGRAM_H
#define TESTS_SUPPORT_EDGE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

enum edge_program_kind {
    EDGE_PROGRAM_LOOPS, /* nested loops, most of them with fixed counts; few conditions */
    EDGE_PROGRAM_CALLS, /* many small functions that call each other and themselves */
    EDGE_PROGRAM_DATA,  /* conditions and loop counts that depend on random data */
    EDGE_PROGRAM_KINDS
};

/*
 * Fills edges with the first count of an endless execution; the program is restarted when it ends.
 * Returns the largest id; the least is 1. The same seed gives the same program and data.
 */
uint32_t edge_program_run(enum edge_program_kind kind, uint64_t seed, uint32_t *edges,
                          size_t count);

#endif
