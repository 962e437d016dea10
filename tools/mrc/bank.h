/* The state of a study: an LRU stack or a table of last uses for each set of each private cache. It
 * is allocated at the first reference. */
#ifndef TOOLS_MRC_BANK_H
#define TOOLS_MRC_BANK_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum bank_kind {
    BANK_DISTANCES, /* outcomes are stack distances */
    BANK_TIMES,     /* buckets (tools/mrc/buckets.h) of the time since the last use */
    BANK_WINDOWS,   /* BANK_AGAIN in the same window of time, or BANK_FIRST */
    BANK_SIMULATED  /* no bank: simulated caches (tools/mrc/simulated.h) */
};

#define BANK_COLD  UINT32_MAX /* outcome of the first reference to a line */
#define BANK_AGAIN 0u
#define BANK_FIRST 1u

#define BANK_RUN_MAX  4096u /* maximum number of references in a run */
#define BANK_SETS_MAX (1u << 20)

struct bank;

/*
 * Makes a bank for `caches` caches of `sets` sets, a power of two. NULL and *error without memory.
 */
struct bank *bank_new(enum bank_kind kind, uint32_t caches, uint32_t sets, struct bt_error *error);
void bank_free(struct bank *bank);

/* Consecutive references. */
struct bank_run {
    size_t count; /* at most BANK_RUN_MAX */
    uint32_t lines[BANK_RUN_MAX];
    uint16_t caches[BANK_RUN_MAX];  /* ignored with a single cache */
    uint64_t numbers[BANK_RUN_MAX]; /* times, windows or SIMULATED_ORIGIN; ignored for distances */
    uint32_t outcomes[BANK_RUN_MAX];
};

/* Computes the outcomes of a run. 0 or BT_MEMORY. */
int bank_run(struct bank *bank, struct bank_run *run, struct bt_error *error);

#endif
