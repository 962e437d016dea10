/* The table of translation look-aside buffers of `bustap cache --tlb`. */
#ifndef TOOLS_CACHE_CACHE_REPORT_TLB_H
#define TOOLS_CACHE_CACHE_REPORT_TLB_H

#include "tools/cache/cache_report_tables.h"

/* Makes the table; valid as long as the report. Returns false without a TLB. */
bool cache_report_tlb_table(struct cache_report_table *made, const struct cache_report *report);

/* The average number of cycles that a translation takes beyond a hit in level 1. Returns false if
 * the latencies are not given, or nothing was translated. */
bool cache_report_tlb_cycles(const struct cache_report *report, double *cycles);

#endif
