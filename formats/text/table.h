/*
 * Tables that commands print: aligned text, comma separated values, or JSON. Rows are requested one
 * at a time, so that the memory used does not depend on the table's length.
 */
#ifndef FORMATS_TEXT_TABLE_H
#define FORMATS_TEXT_TABLE_H

#include "formats/base/named_fields.h"
#include "formats/text/json_put.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 96u

enum table_kind {
    TABLE_TEXT,    /* text */
    TABLE_COUNT,   /* number */
    TABLE_CHANGE,  /* number as an int64_t, with its sign */
    TABLE_ADDRESS, /* number, hexadecimal; a string in JSON, as in DCFG */
    TABLE_SHARE,   /* real, 0 to 1: in aligned text its text, or else a percentage */
    TABLE_REAL,    /* real */
    TABLE_SYMBOL,  /* text+0xnumber; text alone if number is 0 */
    TABLE_LINE     /* text:number; text alone if number is 0 */
};

struct table_column {
    const char *heading; /* in aligned text; NULL: not in aligned text */
    const char *key;     /* in CSV and JSON; NULL: not in CSV and JSON */
    enum table_kind kind;
};

struct table_cell {
    const char *text; /* NULL: none */
    uint64_t number;
    double real;
    bool none; /* empty; null in JSON */
};

struct NAMED_FIELDS table {
    const struct table_column *columns;
    size_t column_count; /* TABLE_COLUMNS_MAX at most */
    size_t rows;
    /* Fills the cells of a row, which are zero. Their texts are used before the next call only. */
    void (*row)(void *argument, size_t row, struct table_cell *cells);
    void *argument;
};

/* Aligned text. Control characters are shown as '?'. Stops if out fails. */
void table_print(const struct table *table, FILE *out);

/* Comma separated values (RFC 4180), with a heading. */
void table_print_csv(const struct table *table, FILE *out);

/* Its parts, for a table in several pieces. */
void table_print_csv_heading(const struct table *table, FILE *out);
void table_print_csv_rows(const struct table *table, FILE *out);

/* "key": [ an object for each row ]. */
void table_json(const struct table *table, const char *key, struct json_put *json);

#endif
