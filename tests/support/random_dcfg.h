/* Random control-flow graphs for tests of readers and writers: well formed, but not sensible. */
#ifndef TESTS_SUPPORT_RANDOM_DCFG_H
#define TESTS_SUPPORT_RANDOM_DCFG_H

#include "formats/dcfg/dcfg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum random_dcfg_kind {
    RANDOM_DCFG_ANY,      /* everything that the specification allows */
    RANDOM_DCFG_WRITABLE, /* as our writer writes it: reads back unchanged */
};

/* A sealed graph with up to size of most elements. */
struct dcfg *random_dcfg(uint64_t *state, enum random_dcfg_kind kind, uint32_t size);

/* Whether the graphs have the same contents, in the same order. */
bool random_dcfg_same(const struct dcfg *a, const struct dcfg *b);

/*
 * The graph as JSON from an obvious writer that uses every freedom of the specification: columns
 * and keys in any order, integers as numbers or strings, unknown keys and columns between them,
 * rows cut before optional columns, empty sections omitted. Free it.
 */
char *random_dcfg_text(const struct dcfg *graph, uint64_t *state, size_t *size);

#endif
