#include "tools/input/trace_rings.h"

#include "formats/capture/capture_name.h"

#include <stdlib.h>
#include <string.h>

/* A capture's file whose name says its prefix. */
struct pc_map_entry {
    struct trace_file *file;
    size_t prefix_bytes; /* of its path */
};

static int compare_prefixes(const struct pc_map_entry *a, const struct pc_map_entry *b)
{
    size_t shorter = a->prefix_bytes < b->prefix_bytes ? a->prefix_bytes : b->prefix_bytes;
    int by_text = memcmp(a->file->path, b->file->path, shorter);
    if (by_text != 0)
        return by_text;
    return (a->prefix_bytes > b->prefix_bytes) - (a->prefix_bytes < b->prefix_bytes);
}

/* Prefix by prefix, the capture that began last first. */
static int compare_places(const void *left, const void *right)
{
    const struct pc_map_entry *a = left;
    const struct pc_map_entry *b = right;
    const struct capture_info *a_info = &a->file->info;
    const struct capture_info *b_info = &b->file->info;
    int by_prefix = compare_prefixes(a, b);
    if (by_prefix != 0)
        return by_prefix;
    if (a_info->started_ns != b_info->started_ns)
        return a_info->started_ns > b_info->started_ns ? -1 : 1;
    return memcmp(a_info->id, b_info->id, sizeof a_info->id);
}

static size_t find_places(const struct trace_set *set, struct pc_map_entry *places)
{
    struct capture_name name;
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct trace_file *file = &set->files[i];
        if (file->opened && capture_info_has_id(&file->info) && capture_name_get(&name, file->path))
            places[count++] = (struct pc_map_entry){file, name.prefix_bytes};
    }
    return count;
}

static uint32_t smaller_ring(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

void trace_rings_count(struct trace_set *set)
{
    struct pc_map_entry *places = set->count > 0 ? malloc(set->count * sizeof *places) : NULL;
    if (!places)
        return;
    size_t count = find_places(set, places);
    qsort(places, count, sizeof *places, compare_places);
    size_t first = 0, begun = 0; /* of the prefix, of those that began at the same time */
    uint32_t keep = 0, same = 0; /* of the prefix's captures that began later; with this one */
    for (size_t i = 0; i < count; i++) {
        struct trace_file *file = places[i].file;
        const struct trace_file *before = i > 0 ? places[i - 1].file : NULL;
        if (i == 0 || compare_prefixes(&places[i - 1], &places[i]) != 0) {
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
    free(places);
}
