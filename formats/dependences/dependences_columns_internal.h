/* The columns of CSV files; most are keys in JSON, too. */
#ifndef FORMATS_DEPENDENCES_DEPENDENCES_COLUMNS_INTERNAL_H
#define FORMATS_DEPENDENCES_DEPENDENCES_COLUMNS_INTERNAL_H

#include "formats/text/table.h"

#define DEPENDENCES_FORMAT  "bustap-dependences"
#define DEPENDENCES_VERSION 1u

enum dependences_column {
    COLUMN_KIND,
    COLUMN_COUNT,
    COLUMN_CARRIED,
    COLUMN_LEAST,
    COLUMN_MEAN,
    COLUMN_GREATEST,
    COLUMN_SUM,
    COLUMN_AT_LEAST,
    COLUMN_SINK_THREAD,
    COLUMN_SOURCE_THREAD,
    COLUMN_PLACES /* the first of ROLES * PARTS columns */
};

/* Places of a row, in this order. */
enum dependences_role { ROLE_SINK, ROLE_SOURCE, ROLE_TOP_SINK, ROLE_TOP_SOURCE, ROLE_LOOP, ROLES };

enum dependences_part {
    PART_FILE,
    PART_LINE,
    PART_FUNCTION,
    PART_MODULE,
    PART_OFFSET,
    PART_ADDRESS,
    PARTS
};

#define DEPENDENCES_COLUMNS (COLUMN_PLACES + ROLES * PARTS)

extern const struct table_column dependences_columns[DEPENDENCES_COLUMNS];

#endif
