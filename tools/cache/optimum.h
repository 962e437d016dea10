/*
 * The fewest misses that any replacement can have with the references of a cache: Belady's optimum
 * (doc/cache-model.md, "The optimum"), in one pass and without looking ahead. A reuse of a line is
 * a hit if a way was free all the time since its last use; ways are given to reuses in the order in
 * which they end, which is optimal. Memory is proportional to the lines that may still be hit, not
 * to the number of references.
 */
#ifndef TOOLS_CACHE_OPTIMUM_H
#define TOOLS_CACHE_OPTIMUM_H

#include "tools/cache/set_index.h"

struct optimum;

/* bypass: lines need not be kept at all; else each reference takes a way. NULL: out of memory. */
struct optimum *optimum_new(const struct set_index *sets, uint32_t ways, unsigned line_shift,
                            bool bypass);
void optimum_free(struct optimum *optimum);

/* A reference to the line that holds address. Returns whether it hits. */
bool optimum_refer(struct optimum *optimum, uint32_t address);

/* The line is fetched anew for other reasons than a miss (prefetch, insertion). */
void optimum_fetch(struct optimum *optimum, uint32_t address);

/* The line is lost; the next reference to it misses. */
void optimum_lose(struct optimum *optimum, uint32_t address);

/* Whether an allocation failed: the results are wrong. */
bool optimum_failed(const struct optimum *optimum);

#endif
