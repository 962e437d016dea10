#include "tests/support/slow_internal.h"

#include <stdlib.h>

/* Mask of the units of a line that contain the bytes. */
uint64_t slow_units(const struct slow_store *store, uint64_t address, uint64_t size)
{
    uint64_t line = store->settings.line;
    uint64_t unit = line >= 64 ? line / 64 : 1;
    uint64_t units = 0;
    for (uint64_t i = 0; i < size; i++)
        units |= (uint64_t)1 << (address + i) % line / unit;
    return units;
}

void slow_lost(struct slow_cache *cache, struct slow_store *store, uint64_t number)
{
    if (!cache->settings.classify)
        return;
    struct slow_loss *loss = slow_map_at(&store->losses, number);
    loss->lost = true;
    loss->units = cache->write_units;
}

void slow_came(struct slow_store *store, uint64_t number)
{
    struct slow_loss *loss = slow_map_find(&store->losses, number);
    if (loss)
        loss->lost = false;
}

struct cache_line_counters *slow_line_counters(struct slow_cache *cache, uint64_t number)
{
    struct cache_line_counters *counters = slow_map_at(&cache->lines, number);
    counters->address = (uint32_t)(number * cache->settings.levels[0].sides[0].line);
    return counters;
}

/* Whether all sub-blocks were referenced before; marks them as referenced. */
static bool seen_before(struct slow_store *store, uint64_t number, uint64_t mask)
{
    uint64_t *seen = slow_map_at(&store->seen, number);
    bool all = (*seen & mask) == mask;
    *seen |= mask;
    return all;
}

/* Whether the fully associative cache hits; it also takes the reference. */
static bool full_hits(struct slow_store *store, uint64_t number, uint64_t mask, bool allocates)
{
    uint64_t count = store->settings.size / store->settings.line;
    struct slow_full_line *line = NULL;
    struct slow_full_line *oldest = store->full;
    for (uint64_t i = 0; i < count && !line; i++) {
        if (store->full[i].used && store->full[i].number == number)
            line = store->full + i;
        if (store->full[i].used < oldest->used)
            oldest = store->full + i;
    }
    bool hit = line && (line->valid & mask) == mask;
    if (!line && allocates) {
        line = oldest;
        line->number = number;
        line->valid = 0;
    }
    if (line) {
        line->valid |= mask;
        line->used = ++store->clock;
    }
    return hit;
}

/* The same for the fully associative cache of the cache's own policy. */
static bool own_hits(const struct slow_cache *cache, struct slow_store *store, uint64_t number,
                     uint64_t mask, bool allocates)
{
    if (!store->own) {
        struct hierarchy_settings settings = cache->settings;
        settings.levels[store->level].sides[store->side] = store->settings;
        settings.levels[store->level].sides[store->side].ways = 0;
        store->own = slow_store_new(&settings, store->level, store->processor, store->side);
        store->own->origin = store->origin;
    }
    struct slow_line *line = slow_find(store->own, number);
    struct slow_line old = {.there = false};
    bool hit = line && (line->valid & mask) == mask;
    if (line)
        slow_use(store->own, line);
    else if (allocates)
        line = slow_place(store->own, number, &old);
    if (line)
        line->valid |= mask;
    free(old.bytes);
    return hit;
}

static bool has_own(const struct slow_store *store)
{
    uint64_t lines = store->settings.size / store->settings.line;
    bool power = (lines & (lines - 1)) == 0;
    return store->settings.replacement != CACHE_LRU &&
           (power || store->settings.replacement != CACHE_PLRU);
}

static void count_sharing(struct slow_cache *cache, struct slow_store *store,
                          const struct slow_reference *part, const struct slow_loss *loss)
{
    bool meets = (loss->units & slow_units(store, part->cause, part->cause_size)) != 0;
    (meets ? store->counters.true_sharing : store->counters.false_sharing)[part->kind]++;
    if (!slow_is_agent(cache, store))
        return;
    struct cache_line_counters *line = slow_line_counters(cache, slow_number(store, part->address));
    line->true_sharing += meets;
    line->false_sharing += !meets;
}

void slow_classify(struct slow_cache *cache, struct slow_store *store,
                   const struct slow_reference *part, bool miss)
{
    if (!cache->settings.classify ||
        cache->settings.levels[store->level].inclusion == CACHE_EXCLUSIVE)
        return;
    uint64_t number = slow_number(store, part->address);
    uint64_t mask = slow_sub_blocks(store, part->address, part->size);
    bool allocates = part->kind != REFERENCE_WRITE || (!store->settings.no_write_allocate &&
                                                       part->attribute == ATTRIBUTE_WRITE_BACK);
    bool before = seen_before(store, number, mask);
    bool full = full_hits(store, number, mask, allocates);
    bool own = has_own(store) && own_hits(cache, store, number, mask, allocates);
    if (!miss || part->prefetch)
        return;
    const struct slow_loss *loss = slow_map_find(&store->losses, number);
    if (loss && loss->lost)
        count_sharing(cache, store, part, loss);
    else if (!before)
        store->counters.compulsory[part->kind]++;
    else {
        (full ? store->counters.conflict : store->counters.capacity)[part->kind]++;
        if (has_own(store))
            (own ? store->counters.own_conflict : store->counters.own_capacity)[part->kind]++;
    }
}
