/* The captures that the files of a command line belong to. */
#ifndef TOOLS_CUT_MERGE_GROUPS_H
#define TOOLS_CUT_MERGE_GROUPS_H

#include "formats/base/error.h"

#include <stddef.h>

/* The files of one capture, or one file without a header. */
struct merge_group {
    int count;
    char **paths; /* in the order given */
};

struct merge_groups {
    struct merge_group *groups; /* in the order of their first files */
    size_t count;
    char **paths; /* of all groups */
};

/* Reads the headers of count files. 0, or a negative code; call merge_groups_free in any case. */
int merge_groups_find(struct merge_groups *groups, int count, char **paths, struct bt_error *error);
void merge_groups_free(struct merge_groups *groups);

#endif
