/* The table of intervals of `bustap cache --interval`. */
#ifndef TOOLS_CACHE_CACHE_REPORT_INTERVALS_H
#define TOOLS_CACHE_CACHE_REPORT_INTERVALS_H

#include "tools/cache/cache_report_tables.h"

/* Makes the table, with references, misses and miss ratio of each level and side; valid as long as
 * the report. Returns false without intervals. */
bool cache_report_intervals_table(struct cache_report_table *made,
                                  const struct cache_report *report);

#endif
