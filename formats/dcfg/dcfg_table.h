/*
 * The two shapes that DCFG and DCFG-trace are made of, over json_pull: tables, whose first row says
 * what the columns are (DCFG 1.00 section 1.2.2), and objects with known tags (1.2.4). Columns and
 * tags may come in any order; unknown ones are skipped.
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
    uint32_t required, present;            /* bit n: column n must be; is in the header */
    uint32_t seen;                         /* in this row so far */
    uint32_t position;                     /* of the next cell in this row */
    uint32_t width;                        /* of the header */
    uint8_t order[DCFG_TABLE_COLUMNS_MAX]; /* which column stands there, plus 1; 0: unknown */
    uint8_t
        run; /* so many cells at the beginning of a row are integers, plus 1; 0: not known yet */
    struct json_pull_bounds run_bounds[DCFG_TABLE_RUN_MAX]; /* theirs */
};

/*
 * Enters the table that comes next and reads its header. columns (at most 32) must outlive it. A
 * header without a required column, or with one twice, is BT_DATA; one that is missing altogether
 * means that there are no rows.
 */
int dcfg_table_begin(struct dcfg_table *table, struct json_pull *pull,
                     const struct dcfg_column *columns);

/* 1: there is another row, its cells come next; 0: that was the table; or negative. */
int dcfg_table_row(struct dcfg_table *table);

/* The number of the known column whose cell comes next, plus 1; 0 at the end of the row, which had
 * all the required ones; or negative. */
int dcfg_table_cell(struct dcfg_table *table);

/*
 * Reads cells that are integers, as many as come in a row and as fast as json_pull_integers() does:
 * values[n] is column n's. bounds says for each column what its integers may be, NULL where they
 * are none; those of unknown columns are skipped. dcfg_table_cell() is asked for the next cell as
 * always: it may be an integer after all. bounds must be the same for all rows.
 */
void dcfg_table_integers(struct dcfg_table *table, const struct json_pull_bounds *const *bounds,
                         uint64_t *values);

/* Where in each row the column stands; 0 if nowhere. */
uint32_t dcfg_table_position(const struct dcfg_table *table, uint32_t column);

/*
 * In an object: the number in tags (which ends with NULL, at most 32) of the key whose value comes
 * next, plus 1; 0 at the end of the object. Others are skipped. *seen must be 0 at the beginning;
 * bit n is set once tags[n] has come.
 */
int dcfg_object_next(struct json_pull *pull, const char *const *tags, uint32_t *seen);

#endif
