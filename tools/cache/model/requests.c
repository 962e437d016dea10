#include "tools/cache/model/requests_internal.h"

#include "tools/cache/model/plain_internal.h"

#include <string.h>

#define AHEAD 12u /* sets are prefetched this many requests in advance */

void requests_prepare(struct cache *cache)
{
    const uint32_t number = cache->processor * CACHE_SIDES + cache->side;
    const bool whole = cache->below && cache->below->settings->line == cache->settings->line;
    cache->fill_request = number << REQUEST_NUMBER_SHIFT;
    cache->write_request = cache->fill_request | (whole ? MOVE_WHOLE : REFERENCE_WRITE);
}

/* The caches of a level, by the number in a request. */
struct level_caches {
    struct cache *(*caches)[CACHE_SIDES];
    uint32_t processor_mask, side_mask;
};

NARROW_INLINE struct cache *cache_of(const struct level_caches *level, uint64_t request)
{
    const uint32_t number = (uint32_t)request >> REQUEST_NUMBER_SHIFT;
    return level->caches[number / CACHE_SIDES & level->processor_mask][number & level->side_mask];
}

/* Queues a level's requests below. ways: of all its caches; 0: they differ. */
NARROW_INLINE void work(struct hierarchy *hierarchy, unsigned number, uint32_t all_ways)
{
    const struct cache_level *kind = &hierarchy->settings.levels[number];
    const struct level_caches level = {.caches = hierarchy->caches[number],
                                       .processor_mask = kind->shared ? 0 : CACHE_PROCESSORS - 1,
                                       .side_mask = kind->split ? CACHE_SIDES - 1 : 0};
    const bool last = number + 1 == hierarchy->settings.level_count;
    const struct request_queue *queue = &hierarchy->queues[number];
    struct request_queue *below = &hierarchy->queues[last ? number : number + 1];
    const unsigned count = queue->count;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t request = queue->requests[i];
        const uint64_t later = queue->requests[i + AHEAD < count ? i + AHEAD : i];
        __builtin_prefetch(narrow_set(cache_of(&level, later), (uint32_t)(later >> 32)), 1);
        struct cache *cache = cache_of(&level, request);
        const uint32_t ways = all_ways ? all_ways : cache->lines.ways;
        const uint32_t tag = narrow_tag_of(cache, (uint32_t)(request >> 32));
        const unsigned what = (unsigned)request & REQUEST_KIND;
        uint32_t *set = narrow_set(cache, tag);
        const uint64_t found = narrow_match(set, ways, tag);
        const uint32_t way = (uint32_t)__builtin_ctzll(found | 1ull << (ways - 1));
        const uint32_t entry = set[way];
        const uint32_t miss = found == 0;
        const uint32_t dirty = miss & (entry / ENTRY_DIRTY);
        const uint32_t flags = what >= REFERENCE_WRITE ? ENTRY_DIRTY : 0;
        if (cache->optimum) {
            const enum reference_kind reference =
                what == MOVE_WHOLE ? REFERENCE_WRITE : (enum reference_kind)what;
            refer_optimum(cache, tag, reference);
            if (miss)
                cache_sample_miss(cache, tag);
        }
        narrow_raise(set, ways, way, (miss ? tag : entry) | flags);
        cache->moves[what * MOVE_PLACES + miss + dirty]++;
        if (last)
            continue;
        if (below->count > REQUESTS_MAX - REQUESTS_OF_ONE)
            requests_make(hierarchy, number + 1);
        below->count = request_below(below->requests, below->count, cache, tag & ~NARROW_FLAGS,
                                     what == REFERENCE_FETCH ? REFERENCE_FETCH : REFERENCE_READ,
                                     miss & (what != MOVE_WHOLE), entry, dirty);
    }
}

void requests_make(struct hierarchy *hierarchy, unsigned level)
{
    if (level < hierarchy->settings.level_count) {
        const struct cache_level *kind = &hierarchy->settings.levels[level];
        const uint32_t ways = kind->sides[0].ways;
        switch (ways == kind->sides[1].ways ? ways : 0) {
        case 4:
            work(hierarchy, level, 4);
            break;
        case 8:
            work(hierarchy, level, 8);
            break;
        case 16:
            work(hierarchy, level, 16);
            break;
        default:
            work(hierarchy, level, 0);
        }
        if (level + 1 < hierarchy->settings.level_count)
            requests_make(hierarchy, level + 1);
    }
    hierarchy->queues[level].count = 0;
}

/* Adds a kind of moves of a cache to its counters. */
static void count_kind(struct cache *cache, unsigned what)
{
    const uint64_t *moves = cache->moves + (size_t)what * MOVE_PLACES;
    const unsigned kind = what == MOVE_WHOLE ? REFERENCE_WRITE : what;
    const uint64_t misses = moves[MOVE_MISS] + moves[MOVE_MISS_DIRTY];
    const uint64_t fills = what == MOVE_WHOLE ? 0 : misses;
    const uint32_t line = cache->settings->line;
    struct cache_counters *counters = &cache->counters;
    counters->references[kind] += moves[MOVE_HIT] + misses;
    counters->misses[kind] += misses;
    counters->line_misses[kind] += misses;
    counters->fills += fills;
    counters->fill_bytes += fills * line;
    counters->write_backs += moves[MOVE_MISS_DIRTY];
    counters->write_back_bytes += moves[MOVE_MISS_DIRTY] * line;
    if (cache->below)
        return;
    struct hierarchy_counters *memory = &cache->hierarchy->counters;
    const unsigned asked = kind == REFERENCE_FETCH ? REFERENCE_FETCH : REFERENCE_READ;
    memory->memory_references[asked] += fills;
    memory->memory_bytes[asked] += fills * line;
    memory->memory_references[REFERENCE_WRITE] += moves[MOVE_MISS_DIRTY];
    memory->memory_bytes[REFERENCE_WRITE] += moves[MOVE_MISS_DIRTY] * line;
}

void requests_count(struct hierarchy *hierarchy)
{
    for (struct cache *cache = hierarchy->last_made; cache; cache = cache->made_before) {
        uint64_t any = 0;
        for (unsigned i = 0; i < MOVE_KINDS * MOVE_PLACES; i++)
            any |= cache->moves[i];
        if (any == 0)
            continue;
        for (unsigned what = 0; what < MOVE_KINDS; what++)
            count_kind(cache, what);
        memset(cache->moves, 0, sizeof cache->moves);
    }
}

void requests_write_back(struct cache *cache, uint32_t line)
{
    struct hierarchy *hierarchy = cache->hierarchy;
    struct request_queue *queue = &hierarchy->queues[1];
    const uint32_t bytes = cache->settings->line;
    cache->counters.write_backs++;
    cache->counters.write_back_bytes += bytes;
    if (cache->below)
        queue->requests[queue->count++] = (uint64_t)line << 32 | cache->write_request;
    else
        cache_refer_plain(hierarchy, NULL, line, bytes, REFERENCE_WRITE);
}
