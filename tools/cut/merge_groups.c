#include "tools/cut/merge_groups.h"

#include "formats/capture/trace_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_pipe(const char *path)
{
    struct stat status;
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
}

/* The header of a file; all zero if it has none, or is a pipe, which can be read only once. */
static int read_header(const char *path, struct capture_info *info, struct bt_error *error)
{
    struct trace_reader *reader;
    *info = (struct capture_info){.clock_hz = 0};
    if (is_pipe(path))
        return 0;
    int result = trace_reader_open(&reader, path, TRACE_INSIST, error);
    if (result < 0)
        return result;
    *info = *source_info(trace_reader_source(reader));
    source_close(trace_reader_source(reader));
    return 0;
}

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
        result = read_header(paths[i], &infos[i], error);
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
