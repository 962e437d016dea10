/* The instructions of a slice, grouped into rows: by source line, or each by itself; each library
 * may be one row. */
#ifndef TOOLS_WET_SLICE_SLICE_ROWS_H
#define TOOLS_WET_SLICE_SLICE_ROWS_H

#include "tools/wet/slice/slice_modules.h"
#include "tools/wet/slice/slice_walk.h"

#define SLICE_ROW_NONE UINT32_MAX

/* Sorted: the program's own code, then each library's; in each by file, line, function, address.
 * Code without a line has a row for each function. */
struct slice_row {
    uint32_t id;     /* of its first instruction */
    uint64_t count;  /* number of instances in the slice */
    uint32_t first;  /* of its instructions in slice_rows.ids */
    uint32_t number; /* of instructions */
    bool is_library; /* all of it */
};

struct slice_rows {
    struct slice_row *rows;
    size_t count;
    uint32_t *ids; /* of the slice, row after row */
    size_t id_count;
    uint32_t *row_of; /* by id; SLICE_ROW_NONE: not in the slice */
};

enum slice_grouping {
    SLICE_BY_INSTRUCTION = 1, /* not by line */
    SLICE_BY_LIBRARY = 2      /* each library is one row */
};

/* counts: by id, how many instances are in the slice; grouping: enum slice_grouping, or 0. 0 or
 * BT_MEMORY; clear it in either case. */
int slice_rows_make(struct slice_rows *rows, const struct wet_code *code, const uint64_t *counts,
                    unsigned grouping);
void slice_rows_clear(struct slice_rows *rows);

/* The last part of a path; NULL: the file is unknown. */
const char *slice_base_name(const struct wet_code *code, uint32_t file);

#endif
