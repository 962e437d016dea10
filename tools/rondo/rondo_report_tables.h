/* The tables of a report: rows and columns. */
#ifndef TOOLS_RONDO_RONDO_REPORT_TABLES_H
#define TOOLS_RONDO_RONDO_REPORT_TABLES_H

#include "formats/text/table.h"
#include "tools/rondo/rondo_report.h"

#define RONDO_COLUMNS_MAX (16u + FRONT_END_PREDICTORS_MAX)

struct rondo_tables {
    const struct rondo_report *report;
    struct table_column columns[RONDO_COLUMNS_MAX]; /* columns of the table made last */
    const struct branch_counts **branches;          /* branches to list, the worst first */
    size_t branch_count;
    char names[FRONT_END_PREDICTORS_MAX][PREDICTOR_TEXT_BYTES + 8]; /* column names */
};

/* 0 or BT_MEMORY; rondo_tables_clear in any case. */
int rondo_tables_make(struct rondo_tables *tables, const struct rondo_report *report,
                      struct bt_error *error);
void rondo_tables_clear(struct rondo_tables *tables);

/* Each table is valid until the next one is made. */
struct table rondo_tables_predictors(struct rondo_tables *tables);
struct table rondo_tables_kinds(struct rondo_tables *tables);
struct table rondo_tables_branches(struct rondo_tables *tables);

#endif
