/* What `bustap cache` prints of a simulation. */
#ifndef TOOLS_CACHE_REPORT_H
#define TOOLS_CACHE_REPORT_H

#include "tools/cache/places.h"
#include "tools/cache/results.h"

#include <stdio.h>

struct report {
    const struct cache_results *results;
    const struct places *places; /* what addresses are called, or NULL */
    uint64_t lost;               /* requests that the capture lost */
    size_t lines;                /* so many of the worst lines at most */
};

/* 0 or BT_MEMORY. */
int cache_report_text(const struct report *report, FILE *out, struct bt_error *error);
int cache_report_json(const struct report *report, FILE *out, struct bt_error *error);
int cache_report_csv(const struct report *report, FILE *out, struct bt_error *error);

#endif
