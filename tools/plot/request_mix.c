#include "tools/plot/request_mix.h"

#include <stdlib.h>
#include <string.h>

int request_mix_begin(struct request_mix *mix, size_t bins, struct bt_error *error)
{
    memset(mix, 0, sizeof *mix);
    int result = time_bins_begin(&mix->time, bins, error);
    for (unsigned type = 0; type < REQUEST_MIX_TYPES && result == 0; type++) {
        mix->counts[type] = calloc(bins, sizeof *mix->counts[type]);
        if (!mix->counts[type])
            result = bt_fail(error, BT_MEMORY, "no memory for %zu bins", bins);
    }
    return result;
}

void request_mix_free(struct request_mix *mix)
{
    time_bins_free(&mix->time);
    for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
        free(mix->counts[type]);
}

void request_mix_put(struct request_mix *mix, const struct batch *batch,
                     const struct capture_info *info)
{
    for (unsigned doubled = time_bins_take(&mix->time, batch, info); doubled > 0; doubled--)
        for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
            time_bins_merge(&mix->time, mix->counts[type]);
    uint64_t tick = batch->first_tick;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        tick = i > 0 ? time_bins_next(tick, record) : tick;
        unsigned type = request_type_ordinal(record->type);
        mix->counts[type][time_bins_at(&mix->time, tick)]++;
        mix->totals[type]++;
    }
}
