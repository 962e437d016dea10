/* The tables that `bustap cache` prints of a simulation, as text, CSV or JSON: rows and columns. */
#ifndef TOOLS_CACHE_CACHE_REPORT_TABLES_H
#define TOOLS_CACHE_CACHE_REPORT_TABLES_H

#include "tools/cache/cache_report.h"
#include "tools/common/table.h"

/* What the tables' rows are made from. */
struct cache_report_tables {
    const struct cache_report *report;
    struct cache_result *rows; /* caches, and in front of those of a level and side their sum */
    size_t row_count;
    size_t *shown; /* kinds of rows that have references, row * (REFERENCE_KINDS + 1) + kind */
    size_t shown_count;
    struct cache_result **agents;
    size_t agent_count;
    struct cache_line_counters *lines; /* the worst first */
};

/* In the order in which they are printed. */
enum cache_report_table_number {
    CACHE_REPORT_MISSES,
    CACHE_REPORT_TRAFFIC,
    CACHE_REPORT_COHERENCE,
    CACHE_REPORT_MEMORY,
    CACHE_REPORT_LINES,
    CACHE_REPORT_TABLES
};

struct cache_report_table {
    struct table table;
    struct table_column columns[TABLE_COLUMNS_MAX];
};

/*
 * Finds the rows; the report stays the caller's and lives on. 0, or BT_MEMORY: then there is
 * nothing to free.
 */
int cache_report_tables_new(struct cache_report_tables *tables, const struct cache_report *report,
                            struct bt_error *error);
void cache_report_tables_free(struct cache_report_tables *tables);

/* Makes a table, valid as long as the rows are. False: there is nothing to be said in it. */
bool cache_report_table_make(struct cache_report_table *made, struct cache_report_tables *tables,
                             enum cache_report_table_number number);

/* Makes the one table of CSV: all that is known of each cache, and of the kinds in it. */
void cache_report_table_csv(struct cache_report_table *made, struct cache_report_tables *tables);

/* Columns that would only hold zeros are not shown to people. */
void cache_report_table_hide_empty(struct cache_report_table *made);

#endif
