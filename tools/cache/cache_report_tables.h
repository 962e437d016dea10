/* Tables of a simulation for text, CSV and JSON: rows and columns. */
#ifndef TOOLS_CACHE_CACHE_REPORT_TABLES_H
#define TOOLS_CACHE_CACHE_REPORT_TABLES_H

#include "formats/text/table.h"
#include "tools/cache/cache_report.h"

/* Source of the tables' rows. */
struct cache_report_tables {
    const struct cache_report *report;
    struct cache_result *rows; /* caches, preceded by the sum of each level and side */
    size_t row_count;
    size_t *shown; /* kinds with references, as row * (REFERENCE_KINDS + 1) + kind */
    size_t shown_count;
    struct cache_result **agents;
    size_t agent_count;
    struct cache_line_counters *lines; /* worst first */
};

/* in printing order */
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

/* Finds the rows. The caller keeps the report alive. 0 or BT_MEMORY, after which nothing is to be
 * freed. */
int cache_report_tables_new(struct cache_report_tables *tables, const struct cache_report *report,
                            struct bt_error *error);
void cache_report_tables_free(struct cache_report_tables *tables);

/* Makes a table, valid as long as the rows are. Returns false if the table would be empty. */
bool cache_report_table_make(struct cache_report_table *made, struct cache_report_tables *tables,
                             enum cache_report_table_number number);

/* Makes the single CSV table: all counters of each cache and kind. */
void cache_report_table_csv(struct cache_report_table *made, struct cache_report_tables *tables);

/* Hides columns that hold only zeros, from the column `kept` on; for text. */
void cache_report_table_hide_zeros(struct cache_report_table *made, size_t kept);

/* The same, for the columns that this table need not have. */
void cache_report_table_hide_empty(struct cache_report_table *made,
                                   enum cache_report_table_number number);

#endif
