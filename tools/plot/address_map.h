/*
 * Counts references by address and time: a table of rows of addresses and bins of time, of bounded
 * size for any capture. Rows have 16 bytes at first; their height doubles when too many are in use.
 * Unused rows are not stored.
 */
#ifndef TOOLS_PLOT_ADDRESS_MAP_H
#define TOOLS_PLOT_ADDRESS_MAP_H

#include "tools/plot/time_bins.h"

#define ADDRESS_MAP_SHIFT_MIN 4u    /* rows of 16 bytes */
#define ADDRESS_MAP_ROWS_MAX  4096u /* rows in use; with 1000 bins they take 32 MiB */

struct address_map;

struct address_map_settings {
    size_t bins;       /* maximum number of bins of time */
    uint32_t from, to; /* address range to count, both included */
};

/* A row in use. */
struct address_map_row {
    uint32_t number;        /* address >> shift */
    const uint64_t *counts; /* by bin */
};

struct address_map_counts {
    uint64_t requests; /* in the map */
    uint64_t dropped;  /* not memory references: I/O, replies, special cycles, unknown */
    uint64_t outside;  /* out of the address range */
};

/* NULL and *error without memory. */
struct address_map *address_map_new(const struct address_map_settings *settings,
                                    struct bt_error *error);
void address_map_free(struct address_map *map);

/* Counts the batch's fetches, reads and writes by address. 0 or BT_MEMORY. */
int address_map_put(struct address_map *map, const struct batch *batch,
                    const struct capture_info *info, struct bt_error *error);

/* The rows in use, ascending; valid until the next put. */
const struct address_map_row *address_map_rows(struct address_map *map, size_t *count);

/* A row is 2^shift bytes high. */
unsigned address_map_shift(const struct address_map *map);

const struct time_bins *address_map_time(const struct address_map *map);
const struct address_map_counts *address_map_totals(const struct address_map *map);

#endif
