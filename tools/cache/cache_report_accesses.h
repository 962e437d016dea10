/* The table of the accesses of the lines with the most coherence traffic. */
#ifndef TOOLS_CACHE_CACHE_REPORT_ACCESSES_H
#define TOOLS_CACHE_CACHE_REPORT_ACCESSES_H

#include "tools/cache/cache_report_tables.h"

struct accesses_report;

/* Names, groups and sorts the accesses of the lines that are listed, in the order of the lines,
 * those with the most traffic first. *made becomes NULL if none are wanted. The tables must outlive
 * it. 0 or BT_MEMORY. */
int accesses_report_new(struct accesses_report **made, const struct cache_report_tables *tables,
                        struct bt_error *error);
void accesses_report_free(struct accesses_report *accesses);

/* Makes the table; valid as long as the report. Returns false with NULL. */
bool accesses_report_table(struct cache_report_table *made, const struct accesses_report *accesses);

/* Hides the columns that no row needs; for text. */
void accesses_report_hide_empty(struct cache_report_table *made);

/* Prints from when on accesses were counted, if not from the first traffic of their line on. */
void accesses_report_note(const struct cache_report *report, FILE *out);

#endif
