/*
 * Divides the time of a capture of any length into a bounded number of bins of equal length. A bin
 * has one tick at first; the length doubles whenever the bins are used up. Also keeps the intervals
 * in which records are missing.
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
    size_t limit;    /* maximum number of bins */
    unsigned shift;  /* a bin is 2^shift ticks long */
    uint64_t origin; /* tick at which the first bin begins */
    uint64_t end;    /* last tick so far */
    bool begun;

    uint64_t clock_hz; /* 0: unknown, or different between captures */
    bool clocks_differ;

    uint64_t lost;            /* total number of lost requests */
    uint64_t gaps;            /* number of gaps in the capture */
    uint64_t *lost_in;        /* by bin: requests lost in losses that begin in it */
    uint64_t *missing_begins; /* by bin: number of missing intervals that begin in it */
    uint64_t *missing_ends;   /* by bin: number of missing intervals whose last tick is in it */
};

/* Consecutive bins in which records are missing. */
struct time_missing {
    size_t first, last; /* bins */
};

/* limit: TIME_BINS_MIN to TIME_BINS_MAX. 0 or BT_MEMORY; time_bins_free in any case. */
int time_bins_begin(struct time_bins *bins, size_t limit, struct bt_error *error);
void time_bins_free(struct time_bins *bins);

/* Makes room for the batch, and records the losses before it and the clock. Returns the number of
 * times the length of bins was doubled; the caller must merge its counts as often. */
unsigned time_bins_take(struct time_bins *bins, const struct batch *batch,
                        const struct capture_info *info);

/* The bin of a tick of a batch that time_bins_take has seen. */
static inline size_t time_bins_at(const struct time_bins *bins, uint64_t tick)
{
    return tick > bins->origin ? (size_t)((tick - bins->origin) >> bins->shift) : 0;
}

/* The tick of the record that follows one at tick. */
static inline uint64_t time_bins_next(uint64_t tick, const struct record *record)
{
    uint64_t next = tick + record->time;
    return next < tick ? UINT64_MAX : next;
}

/* Bins from the first tick to the last; 0 without any batch. */
size_t time_bins_count(const struct time_bins *bins);

/* The first tick of a bin; saturates. */
uint64_t time_bins_tick(const struct time_bins *bins, size_t bin);

/* Merges counts of pairs of bins after the length has doubled. */
void time_bins_merge(const struct time_bins *bins, uint64_t *counts);

/* The first run of bins, from bin `from` on, with missing records. Returns false without one. */
bool time_bins_missing(const struct time_bins *bins, size_t from, struct time_missing *missing);

/* Start of a bin on an axis, relative to the first bin: in seconds, or in ticks without a clock. */
double time_bins_position(const struct time_bins *bins, size_t bin);

#endif
