/* Traces of many kinds, to test statistics with: loops, skewed and strided references, phases, hot
 * sets and heavy tails. */
#ifndef TESTS_SUPPORT_VARIED_TRACE_H
#define TESTS_SUPPORT_VARIED_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define VARIED_KINDS 12u

/* Fills line numbers of references. seed: of any trace; seed % VARIED_KINDS is its kind. sets and
 * lines: of the cache that the trace is for, which decide the sizes of its working sets. */
void varied_trace(uint64_t seed, uint32_t sets, uint32_t lines, uint32_t *trace, size_t count);

#endif
