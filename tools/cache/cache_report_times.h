/* The table of average access times of `bustap cache`. */
#ifndef TOOLS_CACHE_CACHE_REPORT_TIMES_H
#define TOOLS_CACHE_CACHE_REPORT_TIMES_H

#include "tools/cache/cache_report_tables.h"

/* Makes the table; valid as long as the report. Returns false if latencies are not given. */
bool cache_report_times_table(struct cache_report_table *made, const struct cache_report *report);

#endif
