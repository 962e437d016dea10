#include "tools/plot/time_bins.h"

#include "formats/base/saturating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int time_bins_begin(struct time_bins *bins, size_t limit, struct bt_error *error)
{
    memset(bins, 0, sizeof *bins);
    bins->limit = limit;
    bins->lost_in = calloc(limit, sizeof *bins->lost_in);
    bins->missing_begins = calloc(limit, sizeof *bins->missing_begins);
    bins->missing_ends = calloc(limit, sizeof *bins->missing_ends);
    if (!bins->lost_in || !bins->missing_begins || !bins->missing_ends)
        return bt_fail(error, BT_MEMORY, "no memory for %zu bins", limit);
    return 0;
}

void time_bins_free(struct time_bins *bins)
{
    free(bins->lost_in);
    free(bins->missing_begins);
    free(bins->missing_ends);
}

void time_bins_merge(const struct time_bins *bins, uint64_t *counts)
{
    for (size_t i = 0; i < bins->limit; i += 2) {
        uint64_t sum = saturating_add(counts[i], i + 1 < bins->limit ? counts[i + 1] : 0);
        counts[i / 2] = sum;
    }
    size_t kept = (bins->limit + 1) / 2;
    memset(counts + kept, 0, (bins->limit - kept) * sizeof *counts);
}

/* Extends the bins to a tick. Returns the number of times their length was doubled. */
static unsigned reach(struct time_bins *bins, uint64_t tick)
{
    unsigned doubled = 0;
    if (tick > bins->end)
        bins->end = tick;
    while (time_bins_at(bins, bins->end) >= bins->limit) {
        time_bins_merge(bins, bins->lost_in);
        time_bins_merge(bins, bins->missing_begins);
        time_bins_merge(bins, bins->missing_ends);
        bins->shift++;
        doubled++;
    }
    return doubled;
}

static void note_clock(struct time_bins *bins, const struct capture_info *info)
{
    uint64_t clock_hz = info ? info->clock_hz : 0;
    bool first = !bins->begun;
    if (first)
        bins->clock_hz = clock_hz;
    else if (bins->clock_hz != clock_hz)
        bins->clocks_differ = true;
    if (bins->clocks_differ)
        bins->clock_hz = 0;
}

static void note_missing(struct time_bins *bins, uint64_t first, uint64_t last)
{
    bins->missing_begins[time_bins_at(bins, first)]++;
    bins->missing_ends[time_bins_at(bins, last < first ? first : last)]++;
}

/* The last tick of a batch, computed from its records. */
static uint64_t last_tick(const struct batch *batch)
{
    uint64_t tick = batch->first_tick;
    for (size_t i = 1; i < batch->count; i++)
        tick = time_bins_next(tick, &batch->records[i]);
    return tick;
}

unsigned time_bins_take(struct time_bins *bins, const struct batch *batch,
                        const struct capture_info *info)
{
    uint64_t lost = loss_total(&batch->lost);
    uint64_t before = bins->end; /* last tick before the batch */
    note_clock(bins, info);
    if (!bins->begun) {
        bool loss_first = lost > 0 && batch->lost.first_tick < batch->first_tick;
        bins->origin = loss_first ? batch->lost.first_tick : batch->first_tick;
        bins->end = before = bins->origin;
        bins->begun = true;
    }
    unsigned doubled = reach(bins, last_tick(batch));
    if (lost > 0) {
        doubled += reach(bins, batch->lost.last_tick);
        doubled += reach(bins, batch->lost.first_tick);
        size_t bin = time_bins_at(bins, batch->lost.first_tick);
        bins->lost_in[bin] = saturating_add(bins->lost_in[bin], lost);
        bins->lost = saturating_add(bins->lost, lost);
        note_missing(bins, batch->lost.first_tick, batch->lost.last_tick);
    }
    if (batch->gap.milliseconds > 0) {
        bins->gaps++;
        note_missing(bins, before, batch->first_tick);
    }
    return doubled;
}

size_t time_bins_count(const struct time_bins *bins)
{
    return bins->begun ? time_bins_at(bins, bins->end) + 1 : 0;
}

uint64_t time_bins_tick(const struct time_bins *bins, size_t bin)
{
    uint64_t offset = bins->shift < 64 && bin <= UINT64_MAX >> bins->shift
                          ? (uint64_t)bin << bins->shift
                          : UINT64_MAX;
    return saturating_add(bins->origin, offset);
}

bool time_bins_missing(const struct time_bins *bins, size_t from, struct time_missing *missing)
{
    uint64_t open = 0; /* intervals that have begun and not ended */
    bool found = false;
    size_t count = time_bins_count(bins);
    for (size_t bin = 0; bin < count; bin++) {
        open += bins->missing_begins[bin];
        if (bin >= from && open > 0) {
            if (!found)
                missing->first = bin;
            missing->last = bin;
            found = true;
        } else if (found) {
            break;
        }
        open -= bins->missing_ends[bin];
    }
    return found;
}

double time_bins_position(const struct time_bins *bins, size_t bin)
{
    double ticks = ldexp((double)bin, (int)bins->shift);
    return bins->clock_hz > 0 ? ticks / (double)bins->clock_hz : ticks;
}
