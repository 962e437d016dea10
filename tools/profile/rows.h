/* Rows of a profile's tables: sums over blocks with a common key. */
#ifndef TOOLS_PROFILE_ROWS_H
#define TOOLS_PROFILE_ROWS_H

#include "tools/profile/profile_report.h"

struct profile_row {
    uint64_t instructions; /* sort key, descending */
    uint64_t inclusive;    /* functions: including all calls */
    uint64_t count;        /* functions: calls; blocks: executions */
    uint64_t reads, writes;
    const struct module *module; /* NULL: code without a file */
    const struct profile_block *block;
    const char *file; /* source file; NULL: unknown */
    uint32_t line;
    uint32_t function; /* FUNCTION_NONE: stubs */
    unsigned thread;
};

struct profile_rows {
    struct profile_row *rows;
    size_t count, capacity;
};

/* One instruction of a block, including what its calls execute in stubs. */
struct profile_row profile_instruction_row(const struct profile_block *block, unsigned number);

/* Makes the rows of a table. 0 or BT_MEMORY; free rows->rows in any case. */
int profile_rows_make(struct profile_rows *rows, const struct profile_report *report,
                      enum profile_by by);

#endif
