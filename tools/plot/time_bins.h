/*
 * The time of a capture of any length in a bounded number of bins of equal length: they begin with
 * a tick each, and become twice as long whenever they are full. Also where in it something is
 * missing.
 */
#ifndef TOOLS_PLOT_TIME_BINS_H
#define TOOLS_PLOT_TIME_BINS_H

#include "formats/base/error.h"
#include "formats/record/batch.h"
#include "formats/record/capture_info.h"

#include <stddef.h>

#define TIME_BINS_MIN 2u
#define TIME_BINS_MAX 8192u

struct time_bins {
    size_t limit;    /* bins at most */
    unsigned shift;  /* a bin has 2^shift ticks */
    uint64_t origin; /* the first tick of all, where the first bin begins */
    uint64_t end;    /* the last tick so far */
    bool begun;

    uint64_t clock_hz; /* 0: no capture said it, or they differ */
    bool clocks_differ;

    uint64_t lost;            /* requests, in all */
    uint64_t gaps;            /* times that nobody heard the board */
    uint64_t *lost_in;        /* by bin: requests in the losses that begin in it */
    uint64_t *missing_begins; /* by bin: how many intervals in which something is missing begin */
    uint64_t *missing_ends;   /* in it, or have their last tick there */
};

/* An interval of ticks, in bins, in which something is missing. */
struct time_missing {
    size_t first, last; /* bins */
};

/* limit from TIME_BINS_MIN to TIME_BINS_MAX. 0 or BT_MEMORY; time_bins_free in any case. */
int time_bins_begin(struct time_bins *bins, size_t limit, struct bt_error *error);
void time_bins_free(struct time_bins *bins);

/*
 * Makes room for the batch, and notes what is missing in front of it, and the clock. Returns how
 * many times the bins were made twice as long for it: as often counts by bin have to be merged.
 */
unsigned time_bins_take(struct time_bins *bins, const struct batch *batch,
                        const struct capture_info *info);

/* The bin of a tick that a batch taken has. */
static inline size_t time_bins_at(const struct time_bins *bins, uint64_t tick)
{
    return tick > bins->origin ? (size_t)((tick - bins->origin) >> bins->shift) : 0;
}

/* The tick of the record behind one at tick. */
static inline uint64_t time_bins_next(uint64_t tick, const struct record *record)
{
    uint64_t next = tick + record->time;
    return next < tick ? UINT64_MAX : next;
}

/* Bins from the first tick to the last; 0 where nothing was taken. */
size_t time_bins_count(const struct time_bins *bins);

/* The tick a bin begins with; saturates. */
uint64_t time_bins_tick(const struct time_bins *bins, size_t bin);

/* Merges counts by bin, as bins of twice the length have them. */
void time_bins_merge(const struct time_bins *bins, uint64_t *counts);

/* The first run of bins, from bin `from` on, in which something is missing. False: none. */
bool time_bins_missing(const struct time_bins *bins, size_t from, struct time_missing *missing);

/* Where a bin begins for an axis, from the first bin on: in seconds, or in ticks without a clock.
 */
double time_bins_position(const struct time_bins *bins, size_t bin);

#endif
