/*
 * The two structures of DCFG and DCFG-trace, over json_pull: tables, whose first row names the
 * columns (DCFG 1.00 section 1.2.2), and objects with known tags (1.2.4). Columns and tags may be
 * in any order; unknown ones are skipped.
 */
#ifndef FORMATS_DCFG_DCFG_TABLE_H
#define FORMATS_DCFG_DCFG_TABLE_H

#include "formats/text/json_pull.h"

#include <stdbool.h>
#include <stdint.h>

#define DCFG_TABLE_COLUMNS_MAX 255u /* known and unknown */
#define DCFG_TABLE_RUN_MAX     8u   /* integers read at a time */

struct dcfg_column {
    const char *name;
    bool optional; /* rows may end before it, and a table may lack it */
};

struct dcfg_table {
    struct json_pull *pull;
    const struct dcfg_column *columns;     /* ends with a NULL name */
    uint32_t required, present;            /* bit n: column n is required; is in the header */
    uint32_t seen;                         /* in the current row so far */
    uint32_t position;                     /* of the next cell in the current row */
    uint32_t width;                        /* of the header */
    uint8_t order[DCFG_TABLE_COLUMNS_MAX]; /* by position: the column plus 1; 0: unknown */
    uint8_t run; /* number of leading integer cells in a row, plus 1; 0: not known yet */
    struct json_pull_bounds run_bounds[DCFG_TABLE_RUN_MAX]; /* theirs */
};

/*
 * Enters the next table and reads its header. columns (at most 32) must outlive it. A header
 * without a required column, or with a duplicate, is BT_DATA; without a header the table has no
 * rows.
 */
int dcfg_table_begin(struct dcfg_table *table, struct json_pull *pull,
                     const struct dcfg_column *columns);

/* 1: another row, whose cells come next; 0: the table's end; or negative. */
int dcfg_table_row(struct dcfg_table *table);

/* The number of the known column whose cell comes next, plus 1; 0 at the end of the row, which had
 * all required cells; or negative. */
int dcfg_table_cell(struct dcfg_table *table);

/*
 * Reads integer cells of a row, as many and as fast as json_pull_integers() does: values[n] is
 * column n's. bounds has the bounds of each column's integers, NULL for other columns; integers of
 * unknown columns are skipped. dcfg_table_cell() must be called for the next cell as usual: it may
 * be an integer, too. bounds must be the same for all rows.
 */
void dcfg_table_integers(struct dcfg_table *table, const struct json_pull_bounds *const *bounds,
                         uint64_t *values);

/* The column's position in a row; 0 if missing. */
uint32_t dcfg_table_position(const struct dcfg_table *table, uint32_t column);

/*
 * In an object: the number in tags (which ends with NULL, at most 32) of the key whose value comes
 * next, plus 1; 0 at the end of the object. Other keys are skipped. *seen must be 0 at first; bit n
 * is set once tags[n] has occurred.
 */
int dcfg_object_next(struct json_pull *pull, const char *const *tags, uint32_t *seen);

#endif
