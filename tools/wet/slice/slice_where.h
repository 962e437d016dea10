/*
 * Places in an execution, as a user names them: an address, a source line, a function, a variable,
 * or the end; with an instance, if it is not the last one.
 */
#ifndef TOOLS_WET_SLICE_SLICE_WHERE_H
#define TOOLS_WET_SLICE_SLICE_WHERE_H

#include "tools/wet/slice/slice_walk.h"

#define SLICE_FILE_BYTES 4096u

enum slice_where_kind {
    SLICE_AT_END,
    SLICE_AT_ADDRESS, /* or at the name that is its text, if no code was executed there */
    SLICE_AT_LINE,
    SLICE_AT_NAME, /* until slice_names_resolve(): one of the following */
    SLICE_AT_FUNCTION,
    SLICE_AT_VARIABLE
};

struct slice_where {
    enum slice_where_kind kind;
    uint64_t address;
    char file[SLICE_FILE_BYTES]; /* base name, or the end of a path; of names and addresses: they */
    uint32_t line;
    bool has_instance;
    uint64_t instance;
    bool is_own;         /* SLICE_AT_FUNCTION: the program's, not those of its name in libraries */
    uint64_t begin, end; /* SLICE_AT_VARIABLE: where it lies */
    bool is_read; /* SLICE_AT_VARIABLE: what reads it, because no executed instruction writes it */
};

/* Reads ADDRESS[#INSTANCE], FILE:LINE[#INSTANCE], NAME[#INSTANCE] or "end". 0 or BT_USAGE. */
int slice_where_parse(struct slice_where *where, const char *text, struct bt_error *error);

/* By id: how many instances there are in the whole trace. NULL: no memory. The caller frees it. */
uint64_t *slice_where_counts(const struct wet_trace *trace);

/*
 * Adds the instances of the place to the criterion: of an address the instance of its instruction;
 * of a line that of each of its instructions which has so many. 0, BT_MEMORY, or BT_USAGE: it was
 * not executed; the message names what is near.
 */
int slice_where_find(const struct slice_where *where, const struct wet_trace *trace,
                     const uint64_t *counts, struct slice_criterion *criterion,
                     struct bt_error *error);

/* Marks the ids of the place: a bool for each. At the end: none. */
void slice_where_mark(const struct slice_where *where, const struct wet_trace *trace, bool *ids);

#endif
