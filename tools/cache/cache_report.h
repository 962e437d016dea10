/* Reports of `bustap cache`: text, CSV, JSON. */
#ifndef TOOLS_CACHE_CACHE_REPORT_H
#define TOOLS_CACHE_CACHE_REPORT_H

#include "formats/text/json_put.h"
#include "tools/cache/study/attribution.h"
#include "tools/cache/study/results.h"
#include "tools/cache/study/tlb.h"
#include "tools/input/record_input.h"
#include "tools/symbols/address_names.h"

#include <stdio.h>

/* What the rows of the table of attributed misses are. */
enum attribution_by {
    ATTRIBUTE_BY_NOTHING,
    ATTRIBUTE_BY_INSTRUCTION,
    ATTRIBUTE_BY_SYMBOL,
    ATTRIBUTE_BY_SOURCE,
    ATTRIBUTE_BY_PAGE
};

struct cache_report {
    const struct cache_results *results;
    const struct address_names *names;         /* symbols of addresses, or NULL */
    const struct record_input_settings *input; /* what was read; NULL: unknown */
    uint64_t lost;                             /* requests lost by the capture */
    const struct tlb *tlb;                     /* or NULL */
    const struct attribution *attribution;     /* or NULL */
    enum attribution_by by;                    /* rows of its table, */
    size_t rows;                               /* and their maximum number; 0: all */
    uint64_t clock_hz;                         /* ticks per second; 0: unknown */
    size_t lines;      /* maximum number of lines listed, the worst first, */
    size_t accesses;   /* and of accesses of each of them */
    bool csv_accesses; /* CSV has the accesses */
};

/* Prints the settings as text, or puts them as the JSON member "settings". Size, lines and ways of
 * the level `swept` are left out; -1: none is swept. */
void cache_report_settings(const struct hierarchy_settings *settings, int swept, FILE *out);
void cache_report_json_settings(struct json_put *json, const struct hierarchy_settings *settings,
                                int swept);

/* 0 or BT_MEMORY. JSON goes to standard output. */
int cache_report_text(const struct cache_report *report, FILE *out, struct bt_error *error);
int cache_report_json(const struct cache_report *report, struct bt_error *error);
int cache_report_csv(const struct cache_report *report, FILE *out, struct bt_error *error);

#endif
