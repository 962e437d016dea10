#include "tools/cache/study/intervals.h"

#include "formats/base/grow.h"

#include <stdlib.h>

/* Adds the counters of a hierarchy, which began when it was made or its counters were reset. */
static void add_hierarchy(struct interval *sums, const struct hierarchy *hierarchy)
{
    const struct hierarchy_settings *settings = hierarchy_settings_of(hierarchy);
    struct hierarchy_counters all;
    hierarchy_counters(hierarchy, &all);
    sums->memory_references +=
        reference_kinds_sum(all.memory_references) + reference_kinds_sum(all.uncached);
    sums->memory_bytes += reference_kinds_sum(all.memory_bytes);
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++) {
            if (settings->levels[level].shared
                    ? processor > 0
                    : !hierarchy_has_processor(hierarchy, (uint8_t)processor))
                continue;
            for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u);
                 side++) {
                const struct cache_counters counters = hierarchy_cache_counters(
                    hierarchy, level, (uint8_t)processor, (enum cache_side)side);
                sums->levels[level][side].references += reference_kinds_sum(counters.references);
                sums->levels[level][side].misses += reference_kinds_sum(counters.misses);
            }
        }
}

/* What was counted between two sums. */
static struct interval difference(const struct interval *after, const struct interval *before)
{
    struct interval interval = *after;
    interval.memory_references -= before->memory_references;
    interval.memory_bytes -= before->memory_bytes;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            interval.levels[level][side].references -= before->levels[level][side].references;
            interval.levels[level][side].misses -= before->levels[level][side].misses;
        }
    return interval;
}

int intervals_add(struct intervals *intervals, const struct phases *phases,
                  struct hierarchy *const *parts, unsigned part_count, struct bt_error *error)
{
    struct interval sums = {.first_record = phases->first_record,
                            .records = phases->records,
                            .first_tick = phases->first_tick};
    if (intervals->count == INTERVALS_MAX)
        return bt_fail(error, BT_USAGE, "more than %u intervals: choose a longer --interval",
                       INTERVALS_MAX);
    struct interval *grown =
        grow_array(intervals->intervals, &intervals->capacity, intervals->count + 1, sizeof *grown);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for %zu intervals", intervals->count + 1);
    intervals->intervals = grown;
    for (unsigned part = 0; part < part_count; part++)
        add_hierarchy(&sums, parts[part]);
    grown[intervals->count++] = difference(&sums, &intervals->before);
    intervals->before = sums;
    return 0;
}

void intervals_sum(struct intervals *intervals, const struct interval *more, size_t count)
{
    for (size_t i = 0; i < count && i < intervals->count; i++) {
        struct interval *sum = &intervals->intervals[i];
        sum->memory_references += more[i].memory_references;
        sum->memory_bytes += more[i].memory_bytes;
        for (unsigned level = 0; level < CACHE_LEVELS; level++)
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                sum->levels[level][side].references += more[i].levels[level][side].references;
                sum->levels[level][side].misses += more[i].levels[level][side].misses;
            }
    }
}

void intervals_clear(struct intervals *intervals)
{
    free(intervals->intervals);
    *intervals = (struct intervals){.count = 0};
}
