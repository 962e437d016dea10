/*
 * A plain simulator of coherent caches, as one writes it for a study of one's own: the peer of
 * bench_coherence. MESI, split level 1 caches of 16 KiB and 4 ways above a shared level 2 of 1 MiB
 * and 8 ways, lines of 32 bytes, LRU; its counts are those of doc/cache-model.md.
 */
#ifndef TESTS_SUPPORT_PLAIN_MESI_H
#define TESTS_SUPPORT_PLAIN_MESI_H

#include "formats/record/record.h"

#include <stddef.h>

#define PLAIN_MESI_PROCESSORS 4u

struct plain_mesi_counts {
    uint64_t first_misses, second_misses, interventions, invalidations, upgrades, write_backs;
};

/* Simulates records of processors 0 to 3 from empty caches on. 0, or -1 without memory. */
int plain_mesi(const struct record *records, size_t count, struct plain_mesi_counts *counts);

#endif
