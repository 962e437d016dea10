/* What `bustap cache` prints of a simulation. */
#ifndef TOOLS_CACHE_CACHE_REPORT_H
#define TOOLS_CACHE_CACHE_REPORT_H

#include "formats/text/json_put.h"
#include "tools/cache/address_names.h"
#include "tools/cache/results.h"

#include <stdio.h>

struct cache_report {
    const struct cache_results *results;
    const struct address_names *names; /* what addresses are called, or NULL */
    uint64_t lost;                     /* requests that the capture lost */
    size_t lines;                      /* so many of the worst lines at most */
};

/* What is simulated, for people and as the member "settings". The level `swept` is told without
 * size, lines and ways; -1: none is. */
void cache_report_settings(const struct hierarchy_settings *settings, int swept, FILE *out);
void cache_report_json_settings(struct json_put *json, const struct hierarchy_settings *settings,
                                int swept);

/* 0 or BT_MEMORY. JSON goes to standard output, as json_print has it. */
int cache_report_text(const struct cache_report *report, FILE *out, struct bt_error *error);
int cache_report_json(const struct cache_report *report, struct bt_error *error);
int cache_report_csv(const struct cache_report *report, FILE *out, struct bt_error *error);

#endif
