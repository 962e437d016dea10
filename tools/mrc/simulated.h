/*
 * Caches of one replacement policy and of several sizes, all with the same references: the curve of
 * a policy whose misses in one size say nothing about another size. doc/cache-model.md,
 * "Replacement", defines the caches.
 */
#ifndef TOOLS_MRC_SIMULATED_H
#define TOOLS_MRC_SIMULATED_H

#include "formats/base/named_fields.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/mrc/bank.h"

#define SIMULATED_SIZES_MAX 256u

/* Sizes in ascending order, as ways of each set. */
struct NAMED_FIELDS simulated_sizes {
    unsigned count;
    uint64_t ways[SIMULATED_SIZES_MAX];     /* of the caches that the curve is for */
    uint32_t followed[SIMULATED_SIZES_MAX]; /* of those simulated: of a sample, fewer */
};

struct NAMED_FIELDS simulated_settings {
    enum cache_replacement replacement;
    uint32_t line_bytes, sets;
    uint32_t caches; /* of each size */
    bool paired;     /* caches 2n and 2n + 1 are sides of one processor's; else each is one's */
    bool sampled;    /* misses are counted by group of lines */
};

/* Where SHiP's signature comes from, as bank_run.numbers: the instruction, or 0 if none is known.
 */
#define SIMULATED_ORIGIN(instruction) (UINT64_C(1) << 32 | (instruction))

struct simulated;

/* Makes empty caches; both arguments are copied. NULL and *error without memory. */
struct simulated *simulated_new(const struct simulated_settings *settings,
                                const struct simulated_sizes *sizes, struct bt_error *error);
void simulated_free(struct simulated *simulated);

/* Simulates a run; series_of has the series of each reference. 0 or BT_MEMORY. */
int simulated_run(struct simulated *simulated, const struct bank_run *run,
                  const uint16_t *series_of, struct bt_error *error);

/* Groups in which misses are counted: 1 or SAMPLE_GROUPS. */
unsigned simulated_groups(const struct simulated *simulated);

/* Misses of a series, [size * groups + group]; NULL if it has had no reference. */
const uint64_t *simulated_misses(const struct simulated *simulated, unsigned series);

#endif
