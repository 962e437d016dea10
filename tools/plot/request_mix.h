/* Requests of each type over time, in bins. */
#ifndef TOOLS_PLOT_REQUEST_MIX_H
#define TOOLS_PLOT_REQUEST_MIX_H

#include "tools/plot/time_bins.h"

#define REQUEST_MIX_TYPES                                                                          \
    (REQUEST_TYPES + 1) /* by ordinal; the last one is REQUEST_TYPE_UNKNOWN                        \
                         */

struct request_mix {
    struct time_bins time;
    uint64_t *counts[REQUEST_MIX_TYPES]; /* by bin */
    uint64_t totals[REQUEST_MIX_TYPES];
};

/* 0 or BT_MEMORY; request_mix_free in any case. */
int request_mix_begin(struct request_mix *mix, size_t bins, struct bt_error *error);
void request_mix_free(struct request_mix *mix);

void request_mix_put(struct request_mix *mix, const struct batch *batch,
                     const struct capture_info *info);

#endif
