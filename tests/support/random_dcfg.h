/* Random control-flow graphs for tests of what reads and writes them: well formed, not sensible. */
#ifndef TESTS_SUPPORT_RANDOM_DCFG_H
#define TESTS_SUPPORT_RANDOM_DCFG_H

#include "formats/dcfg/dcfg.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum random_dcfg_kind {
    RANDOM_DCFG_ANY,      /* all that the specification allows */
    RANDOM_DCFG_WRITABLE, /* as our writer has it: it reads back as it was */
};

/* A sealed graph of up to size of most things. */
struct dcfg *random_dcfg(uint64_t *state, enum random_dcfg_kind kind, uint32_t size);

/* Whether the graphs tell the same, in the same order. */
bool random_dcfg_same(const struct dcfg *a, const struct dcfg *b);

/*
 * The graph as JSON by an obvious writer that takes every freedom the specification leaves: columns
 * and keys in any order, integers as numbers or strings, unknown keys and columns between them,
 * rows cut where the rest is optional, empty sections left out. Free it.
 */
char *random_dcfg_text(const struct dcfg *graph, uint64_t *state, size_t *size);

#endif
