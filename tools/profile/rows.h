/* The rows of a profile's tables: sums over blocks by what they have in common. */
#ifndef TOOLS_PROFILE_ROWS_H
#define TOOLS_PROFILE_ROWS_H

#include "tools/profile/profile_report.h"

struct profile_row {
    uint64_t instructions; /* the rows with the most are in front */
    uint64_t inclusive;    /* of functions: with all they called */
    uint64_t count;        /* calls of a function, executions of a block */
    uint64_t reads, writes;
    const struct module *module; /* NULL: from no file */
    const struct profile_block *block;
    const char *file; /* of the source; NULL: not known */
    uint32_t line;
    uint32_t function; /* FUNCTION_NONE: stubs */
    unsigned thread;
};

struct profile_rows {
    struct profile_row *rows;
    size_t count, capacity;
};

/* One instruction of a block, with what went through stubs from there. */
struct profile_row profile_instruction_row(const struct profile_block *block, unsigned number);

/* Makes the rows of a table. 0 or BT_MEMORY; free rows->rows in any case. */
int profile_rows_make(struct profile_rows *rows, const struct profile_report *report,
                      enum profile_by by);

#endif
