/* The rows of `bustap dcfg diff`, as tables. */
#ifndef TOOLS_DCFG_DIFF_ROWS_H
#define TOOLS_DCFG_DIFF_ROWS_H

#include "formats/text/table.h"
#include "tools/dcfg/graph/graph_diff.h"
#include "tools/dcfg/view_command.h"

struct diff_rows {
    const struct view *views; /* the two graphs */
    const struct graph_diff *diff;
    size_t shown[GRAPH_DIFF_KINDS]; /* number of rows of each list to show */
    enum graph_diff_kind kind;      /* of a table of a single kind */
    char texts[3][120];             /* of the row filled last */
};

/* The table of the differences of one kind. */
struct table diff_rows_table(struct diff_rows *rows, enum graph_diff_kind kind);

/* The table of all differences, with a column for the kind. */
struct table diff_rows_all(struct diff_rows *rows);

/* "blocks", "edges", "routines". */
const char *diff_rows_name(enum graph_diff_kind kind);

#endif
