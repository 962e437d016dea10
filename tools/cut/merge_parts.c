#include "tools/cut/merge_parts.h"

#include "formats/base/saturating.h"

#include <stdlib.h>
#include <string.h>

/* Losses and gaps, added up since the capture began. */
struct holes {
    uint64_t lost[LOSS_STAGES];
    uint64_t milliseconds;
};

struct part {
    const struct capture_info *info;
    size_t capture;     /* index of the first input of the same capture */
    struct holes holes; /* of the capture, as far as this part tells */
    uint64_t records;
    uint64_t first_index, end_index; /* those excluded by the filter of a cut included */
    uint64_t filtered;               /* by the capture's own filter: without indices */
};

struct merge_parts {
    struct part *parts;
    struct holes *merged; /* by capture: holes in the merged trace */
    size_t *order;        /* of parts, by capture and first index */
    size_t count;
};

struct merge_parts *merge_parts_new(size_t count)
{
    struct merge_parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return NULL;
    parts->parts = calloc(count, sizeof *parts->parts);
    parts->merged = calloc(count, sizeof *parts->merged);
    parts->order = calloc(count, sizeof *parts->order);
    if (parts->parts && parts->merged && parts->order)
        return parts;
    merge_parts_free(parts);
    return NULL;
}

void merge_parts_free(struct merge_parts *parts)
{
    if (!parts)
        return;
    free(parts->parts);
    free(parts->merged);
    free(parts->order);
    free(parts);
}

void merge_parts_add(struct merge_parts *parts, const struct capture_info *info)
{
    struct part *part = &parts->parts[parts->count];
    *part = (struct part){.info = info, .capture = parts->count};
    for (size_t i = 0; i < parts->count && part->capture == parts->count; i++)
        if (capture_info_has_id(info) &&
            memcmp(parts->parts[i].info->id, info->id, CAPTURE_ID_BYTES) == 0)
            part->capture = parts->parts[i].capture;
    parts->count++;
}

void merge_parts_begin(struct merge_parts *parts, size_t input)
{
    struct part *part = &parts->parts[input];
    part->holes = parts->merged[part->capture];
}

/* Adds `amount` to what a part knows. Returns by how much that exceeds what is merged. */
static uint64_t advance(uint64_t *known, uint64_t *merged, uint64_t amount)
{
    const uint64_t before = *merged;
    *known = saturating_add(*known, amount);
    if (*known <= before)
        return 0;
    *merged = *known;
    return *known - before;
}

void merge_parts_take_hole(struct merge_parts *parts, size_t input, struct loss *lost,
                           struct gap *gap)
{
    struct holes *known = &parts->parts[input].holes;
    struct holes *merged = &parts->merged[parts->parts[input].capture];
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        lost->count[stage] = advance(&known->lost[stage], &merged->lost[stage], lost->count[stage]);
    gap->milliseconds =
        (uint32_t)advance(&known->milliseconds, &merged->milliseconds, gap->milliseconds);
    gap->uncounted = gap->uncounted && gap->milliseconds > 0;
}

void merge_parts_end(struct merge_parts *parts, size_t input, const struct merge_part_end *end)
{
    struct part *part = &parts->parts[input];
    part->records = end->records;
    part->first_index = part->info->first_index;
    part->end_index = end->end_index;
    if (part->info->derived)
        part->end_index = saturating_add(part->end_index, end->filtered);
    else
        part->filtered = end->filtered;
}

/* --- what filters have excluded -------------------------------------------------------------- */

/* Inserts a part into the order, in which `count` are sorted. */
static void insert(const struct merge_parts *parts, size_t count)
{
    const struct part *part = &parts->parts[count];
    size_t at = count;
    for (; at > 0; at--) {
        const struct part *before = &parts->parts[parts->order[at - 1]];
        if (before->capture < part->capture ||
            (before->capture == part->capture && before->first_index <= part->first_index))
            break;
        parts->order[at] = parts->order[at - 1];
    }
    parts->order[at] = count;
}

/* Of the requests in the ranges of a capture's parts, which begin at order[*at], those that are
 * neither merged nor lost. Passes the parts. */
static uint64_t capture_filtered(const struct merge_parts *parts, size_t *at)
{
    const size_t capture = parts->parts[parts->order[*at]].capture;
    uint64_t requests = 0, held = 0, own = 0, end = 0;
    for (; *at < parts->count && parts->parts[parts->order[*at]].capture == capture; ++*at) {
        const struct part *part = &parts->parts[parts->order[*at]];
        const uint64_t from = part->first_index > end ? part->first_index : end;
        if (part->end_index > from) {
            requests += part->end_index - from;
            end = part->end_index;
        }
        held = saturating_add(held, part->records);
        own = saturating_add(own, part->filtered);
    }
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        held = saturating_add(held, parts->merged[capture].lost[stage]);
    return saturating_add(own, requests > held ? requests - held : 0);
}

uint64_t merge_parts_filtered(const struct merge_parts *parts)
{
    uint64_t filtered = 0;
    for (size_t i = 0; i < parts->count; i++)
        insert(parts, i);
    for (size_t at = 0; at < parts->count;)
        filtered = saturating_add(filtered, capture_filtered(parts, &at));
    return filtered;
}
