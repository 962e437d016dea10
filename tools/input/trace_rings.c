#include "tools/input/trace_rings.h"

#include "formats/capture/capture_name.h"

#include <stdlib.h>
#include <string.h>

/* A capture's file whose name contains its prefix. */
struct prefix_file {
    struct trace_file *file;
    size_t prefix_bytes; /* length of the prefix in its path */
};

static int compare_prefixes(const struct prefix_file *a, const struct prefix_file *b)
{
    size_t shorter = a->prefix_bytes < b->prefix_bytes ? a->prefix_bytes : b->prefix_bytes;
    int by_text = memcmp(a->file->path, b->file->path, shorter);
    if (by_text != 0)
        return by_text;
    return (a->prefix_bytes > b->prefix_bytes) - (a->prefix_bytes < b->prefix_bytes);
}

/* By prefix; within a prefix, the latest capture first. */
static int compare_files(const void *left, const void *right)
{
    const struct prefix_file *a = left;
    const struct prefix_file *b = right;
    const struct capture_info *a_info = &a->file->info;
    const struct capture_info *b_info = &b->file->info;
    int by_prefix = compare_prefixes(a, b);
    if (by_prefix != 0)
        return by_prefix;
    if (a_info->started_ns != b_info->started_ns)
        return a_info->started_ns > b_info->started_ns ? -1 : 1;
    return memcmp(a_info->id, b_info->id, sizeof a_info->id);
}

static size_t find_prefixes(const struct trace_set *set, struct prefix_file *entries)
{
    struct capture_name name;
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct trace_file *file = &set->files[i];
        if (file->opened && capture_info_has_id(&file->info) && capture_name_get(&name, file->path))
            entries[count++] = (struct prefix_file){file, name.prefix_bytes};
    }
    return count;
}

static uint32_t smaller_ring(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

void trace_rings_count(struct trace_set *set)
{
    struct prefix_file *entries = set->count > 0 ? malloc(set->count * sizeof *entries) : NULL;
    if (!entries)
        return;
    size_t count = find_prefixes(set, entries);
    qsort(entries, count, sizeof *entries, compare_files);
    /* first: index of the prefix's first file; begun: of the first one with the same start time;
     * keep: smallest ring of the prefix's later captures; same: of those with the same start time
     */
    size_t first = 0, begun = 0;
    uint32_t keep = 0, same = 0;
    for (size_t i = 0; i < count; i++) {
        struct trace_file *file = entries[i].file;
        const struct trace_file *before = i > 0 ? entries[i - 1].file : NULL;
        if (i == 0 || compare_prefixes(&entries[i - 1], &entries[i]) != 0) {
            first = begun = i;
            keep = same = 0;
        } else if (before->info.started_ns != file->info.started_ns) {
            begun = i;
            keep = smaller_ring(keep, same);
            same = 0;
        }
        same = smaller_ring(same, file->info.keep);
        file->later_files = begun - first;
        file->later_keep = keep;
    }
    free(entries);
}
