/* The rows of `bustap dcfg diff`, as tables. */
#ifndef TOOLS_DCFG_DIFF_ROWS_H
#define TOOLS_DCFG_DIFF_ROWS_H

#include "tools/common/table.h"
#include "tools/dcfg/graph/graph_diff.h"
#include "tools/dcfg/view_command.h"

struct diff_rows {
    const struct view *views; /* two */
    const struct graph_diff *diff;
    size_t shown[GRAPH_DIFF_KINDS]; /* rows of each list */
    enum graph_diff_kind kind;      /* of a table of one kind */
    char texts[3][120];             /* of the row that was filled last */
};

/* The table of the differences of one kind. */
struct table diff_rows_table(struct diff_rows *rows, enum graph_diff_kind kind);

/* The table of all differences, with a column for their kind. */
struct table diff_rows_all(struct diff_rows *rows);

/* "blocks", "edges", "routines". */
const char *diff_rows_name(enum graph_diff_kind kind);

#endif
