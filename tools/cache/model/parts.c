/* Divides a hierarchy into parts: sets that no reference connects are simulated independently. */
#include "formats/base/power.h"
#include "tools/cache/model/hierarchy_internal.h"

#include <string.h>

/* The longest line, and the smallest distance after which addresses map to the same sets again. */
static void extent(const struct hierarchy_settings *settings, uint64_t *line, uint64_t *span)
{
    *line = 1;
    *span = 1ull << 32;
    for (unsigned number = 0; number < settings->level_count; number++) {
        const struct cache_level *level = &settings->levels[number];
        for (unsigned side = 0; side < (level->split ? CACHE_SIDES : 1u); side++) {
            const struct cache_settings *cache = &level->sides[side];
            uint64_t sets = hierarchy_sets(cache);
            uint64_t own = (sets & -sets) * cache->line; /* its largest power of two of sets */
            *line = cache->line > *line ? cache->line : *line;
            *span = own < *span ? own : *span;
        }
    }
}

unsigned hierarchy_parts_max(const struct hierarchy_settings *settings)
{
    uint64_t line;
    uint64_t span;
    extent(settings, &line, &span);
    return hierarchy_check_parts(settings, NULL) < 0 ? 1 : (unsigned)(span / line);
}

void hierarchy_classes(const struct hierarchy_settings *settings, unsigned *shift, uint32_t *mask)
{
    uint64_t line;
    uint64_t span;
    extent(settings, &line, &span);
    *shift = power_log2(line);
    *mask = (uint32_t)(span / line - 1);
}

/* What makes the sets of a cache depend on each other, or NULL. */
static const char *connection(const struct cache_settings *cache)
{
    return cache->victim_lines > 0                    ? "a victim buffer"
           : cache->prefetcher != CACHE_NO_PREFETCHER ? "a prefetcher"
           : cache->prefetch != CACHE_NO_PREFETCH     ? "prefetch"
           : cache->hash != CACHE_HASH_NONE           ? "hashed sets"
           : cache->replacement == CACHE_DRRIP        ? "drrip"
           : cache->replacement == CACHE_SHIP         ? "ship"
                                                      : NULL;
}

int hierarchy_check_parts(const struct hierarchy_settings *settings, struct bt_error *error)
{
    uint64_t line;
    uint64_t span;
    if (settings->classify)
        return bt_fail(error, BT_USAGE,
                       "misses cannot be classified in parts: a fully associative cache has to see "
                       "all references");
    for (unsigned number = 0; number < settings->level_count; number++) {
        const struct cache_level *level = &settings->levels[number];
        for (unsigned side = 0; side < (level->split ? CACHE_SIDES : 1u); side++) {
            const char *what = connection(&level->sides[side]);
            if (what)
                return bt_fail(error, BT_USAGE,
                               "level %u has %s, which connects its sets: it cannot be simulated "
                               "in parts",
                               number + 1, what);
        }
    }
    extent(settings, &line, &span);
    if (span < 2 * line)
        return bt_fail(error, BT_USAGE,
                       "a cache that has a single set for the longest line, as a fully associative "
                       "one, cannot be simulated in parts");
    return 0;
}

/* Adds a struct that consists of uint64_t members only to another, sign (1 or -1) times. */
static void add(void *counters, const void *more, size_t size, int sign)
{
    unsigned char *sums = counters;
    const unsigned char *terms = more;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t sum;
        uint64_t term;
        memcpy(&sum, sums + at, sizeof sum);
        memcpy(&term, terms + at, sizeof term);
        sum += sign < 0 ? 0 - term : term;
        memcpy(sums + at, &sum, sizeof sum);
    }
}

void cache_counters_add(struct cache_counters *counters, const struct cache_counters *more)
{
    add(counters, more, sizeof *counters, 1);
}

void cache_counters_subtract(struct cache_counters *counters, const struct cache_counters *less)
{
    add(counters, less, sizeof *counters, -1);
}

void hierarchy_counters_add(struct hierarchy_counters *counters,
                            const struct hierarchy_counters *more)
{
    add(counters, more, sizeof *counters, 1);
}
