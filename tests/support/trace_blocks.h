/* Random blocks, and trace entries of their executions. */
#ifndef TESTS_SUPPORT_TRACE_BLOCKS_H
#define TESTS_SUPPORT_TRACE_BLOCKS_H

#include "capture/exec/translate/code_cache.h"

#define TRACE_BLOCKS_SLOTS 24u /* entries of each execution */

/* Adds `count` blocks of random references: some of them through fs, some through entries, some
 * through both; some blocks have a repeated instruction, or elements by a mask. `blocks` must stay
 * as long as the cache. Most blocks follow the one before them in memory; a block's `address` is
 * where its last fetch ends. The first record is a fetch; fetches have time 1, all others 0. */
void trace_blocks_make(struct block *blocks, unsigned count, struct code_cache *cache,
                       uint64_t *state);

/* Entries of `executions` executions of `count` blocks, with at most `repetitions_max` repetitions
 * each. */
void trace_blocks_execute(uint32_t *entries, unsigned executions, unsigned count,
                          uint32_t repetitions_max, uint64_t *state);

#endif
