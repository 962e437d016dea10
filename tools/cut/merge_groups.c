#include "tools/cut/merge_groups.h"

#include "tools/input/captures.h"

#include <stdlib.h>

/* Collects the files of one capture behind each other. group: for each file the index of the first
 * one of its capture. */
static void collect(struct merge_groups *groups, int count, char **paths, const int *group)
{
    char **next = groups->paths;
    for (int i = 0; i < count; i++) {
        if (group[i] != i)
            continue;
        struct merge_group *own = &groups->groups[groups->count++];
        own->paths = next;
        for (int j = i; j < count; j++)
            if (group[j] == i)
                *next++ = paths[j];
        own->count = (int)(next - own->paths);
    }
}

int merge_groups_find(struct merge_groups *groups, int count, char **paths, struct bt_error *error)
{
    const size_t size = (size_t)count + 1;
    struct capture_info *infos = calloc(size, sizeof *infos);
    int *group = calloc(size, sizeof *group);
    int result = 0;
    *groups = (struct merge_groups){.groups = calloc(size, sizeof *groups->groups),
                                    .paths = calloc(size, sizeof *groups->paths)};
    if (!infos || !group || !groups->groups || !groups->paths)
        result = bt_fail(error, BT_MEMORY, "no memory for %d files", count);
    for (int i = 0; i < count && result == 0; i++) {
        result = captures_read_header(&infos[i], paths[i], error);
        group[i] = i;
        for (int j = 0; j < i && group[i] == i; j++)
            if (capture_info_same_capture(&infos[i], &infos[j]))
                group[i] = group[j];
    }
    if (result == 0)
        collect(groups, count, paths, group);
    free(infos);
    free(group);
    return result;
}

void merge_groups_free(struct merge_groups *groups)
{
    free(groups->groups);
    free(groups->paths);
}
