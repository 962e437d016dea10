/* The table of misses by instruction, symbol, source line or page of `bustap cache --by`. */
#ifndef TOOLS_CACHE_CACHE_REPORT_ATTRIBUTION_H
#define TOOLS_CACHE_CACHE_REPORT_ATTRIBUTION_H

#include "tools/cache/cache_report_tables.h"

struct attribution_report;

/* Groups and sorts the rows, most misses of level 1 first. *made becomes NULL if nothing was
 * attributed. The report must outlive it. 0 or BT_MEMORY. */
int attribution_report_new(struct attribution_report **made, const struct cache_report *report,
                           struct bt_error *error);
void attribution_report_free(struct attribution_report *attribution);

/* Makes the table, of at most report->rows rows; valid as long as the report. Returns false with
 * NULL. */
bool attribution_report_table(struct cache_report_table *made,
                              const struct attribution_report *attribution);

#endif
