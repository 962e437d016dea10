/* Fast path: hits in level 1, and hierarchies of plain caches only. It counts what references.c
 * counts; all other cases go there. */
#include "formats/base/power.h"
#include "tools/cache/model/narrow_internal.h"
#include "tools/cache/model/plain_internal.h"

static unsigned side_count(const struct cache_level *level)
{
    return level->split ? CACHE_SIDES : 1;
}

/* Whether a hit in a level 1 cache changes only its order and its dirty bits. */
static bool has_quick_hits(const struct cache_settings *cache)
{
    return cache->replacement == CACHE_LRU && cache->prefetcher == CACHE_NO_PREFETCHER &&
           cache->hash == CACHE_HASH_NONE && power_is(cache->size / cache->line / cache->ways) &&
           cache->sub_block == cache->line && cache->ways <= LINE_WAYS_SEARCHED &&
           !cache->write_through &&
           (cache->prefetch == CACHE_NO_PREFETCH || cache->prefetch == CACHE_PREFETCH_MISS);
}

static bool is_plain(const struct hierarchy_settings *settings, unsigned number, unsigned side)
{
    const struct cache_level *level = &settings->levels[number];
    const struct cache_settings *cache = &level->sides[side];
    if (!has_quick_hits(cache) || cache->no_write_allocate || cache->victim_lines > 0 ||
        cache->prefetch != CACHE_NO_PREFETCH || level->inclusion != CACHE_NEITHER)
        return false;
    if (number + 1 == settings->level_count)
        return true;
    const struct cache_level *below = &settings->levels[number + 1];
    return below->sides[below->split ? side : 0].line >= cache->line;
}

bool hierarchy_is_plain(const struct hierarchy_settings *settings, unsigned level, unsigned side)
{
    if (settings->classify || settings->honour_attributes ||
        (settings->coherence != CACHE_INCOHERENT && !settings->levels[level].shared))
        return false;
    for (; level < settings->level_count; level++)
        if (!is_plain(settings, level, settings->levels[level].split ? side : 0))
            return false;
    return true;
}

bool hierarchy_is_narrow(const struct hierarchy_settings *settings, unsigned level, unsigned side)
{
    struct hierarchy_settings incoherent = *settings;
    incoherent.coherence = CACHE_INCOHERENT;
    return settings->levels[level].sides[side].line >= NARROW_LINE_MIN &&
           hierarchy_is_plain(&incoherent, level, side);
}

/* Whether the agents are the level 1 caches, with the same sets, and everything but coherence is
 * plain. */
static bool has_plain_agents(const struct hierarchy_settings *settings)
{
    const struct cache_level *first = &settings->levels[0];
    return settings->coherence != CACHE_INCOHERENT &&
           (settings->level_count == 1 || settings->levels[1].shared) &&
           hierarchy_is_narrow(settings, 0, CACHE_INSTRUCTION) &&
           hierarchy_is_narrow(settings, 0, CACHE_DATA) &&
           hierarchy_sets(&first->sides[CACHE_INSTRUCTION]) ==
               hierarchy_sets(&first->sides[CACHE_DATA]);
}

enum hierarchy_shape hierarchy_shape_of(const struct hierarchy_settings *settings)
{
    if (settings->classify || settings->honour_attributes)
        return SHAPE_ANY;
    if (has_plain_agents(settings))
        return SHAPE_AGENTS;
    bool plain = settings->coherence == CACHE_INCOHERENT;
    bool narrow = true;
    for (unsigned number = 0; number < settings->level_count; number++)
        for (unsigned side = 0; side < side_count(&settings->levels[number]); side++) {
            const struct cache_settings *cache = &settings->levels[number].sides[side];
            plain = plain && is_plain(settings, number, side);
            narrow = narrow && (number > 0 || hierarchy_is_narrow(settings, 0, side));
            if (number == 0 && !has_quick_hits(cache))
                return SHAPE_ANY;
        }
    return !plain ? SHAPE_QUICK_HITS : narrow ? SHAPE_NARROW : SHAPE_PLAIN;
}

/* Whether a write, or MEMREADINV, hits an entry of level 1 without a request to other caches. */
static inline bool owns_quietly(const struct cache *cache, uint64_t entry)
{
    return cache->hierarchy->settings.coherence == CACHE_INCOHERENT ||
           (cache->agent && (entry & ENTRY_STATE) == ENTRY_MODIFIED);
}

/* The same hit as quick_hit, in a narrow store. */
static inline bool quick_hit_narrow(struct cache *cache, uint32_t address, enum reference_kind kind,
                                    bool owns)
{
    uint32_t *set = line_store_narrow_set(&cache->lines, masked_set(cache, address));
    const uint64_t found = narrow_match(set, cache->lines.ways, narrow_tag_of(cache, address));
    const uint32_t way = (uint32_t)__builtin_ctzll(found | 1ull << 63);
    if (found == 0 || (owns && !owns_quietly(cache, set[way])))
        return false;
    if (cache->optimum)
        refer_optimum(cache, address, kind);
    narrow_raise(set, cache->lines.ways, way, set[way] | (owns ? ENTRY_DIRTY : 0));
    cache->counters.references[kind]++;
    return true;
}

/* A hit in level 1 that involves no other cache. Returns false if the reference is none. */
static inline bool quick_hit(struct cache *cache, uint32_t address, enum reference_kind kind,
                             bool owns)
{
    if (cache->lines.narrow)
        return quick_hit_narrow(cache, address, kind, owns);
    uint64_t *set = cache->lines.entries + (size_t)masked_set(cache, address) * cache->lines.ways;
    const uint64_t tag = tag_of(cache, address);
    uint32_t way = 0;
    while (way < cache->lines.ways && (set[way] & ENTRY_TAG) != tag)
        way++;
    if (way == cache->lines.ways || (owns && !owns_quietly(cache, set[way])))
        return false;
    const uint64_t found = set[way] | (owns ? ENTRY_DIRTY : 0);
    if (cache->optimum)
        refer_optimum(cache, address, kind);
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = found;
    cache->counters.references[kind]++;
    return true;
}

static inline size_t run(struct hierarchy *hierarchy, const struct record *records, size_t count,
                         enum hierarchy_shape shape)
{
    size_t i = 0;
    for (; i < count; i++) {
        const struct record *record = &records[i];
        enum reference_kind kind = reference_kind_of(record->type);
        if (kind == REFERENCE_NONE)
            break;
        struct cache *cache = hierarchy->processors[record->processor]
                                  .first[kind == REFERENCE_FETCH ? CACHE_INSTRUCTION : CACHE_DATA];
        if (!cache)
            break;
        uint32_t bytes = reference_bytes(record);
        uint32_t line = 1u << cache->lines.line_shift;
        if ((record->address & (line - 1)) + bytes > line)
            break;
        if (hierarchy->parts > 1 && !hierarchy_is_mine(hierarchy, record->address))
            continue;
        if (shape == SHAPE_QUICK_HITS && kind == REFERENCE_FETCH) /* lower levels may sign by it */
            hierarchy->processors[record->processor].origin =
                (struct reference_origin){.known = true, .instruction = record->address};
        const bool owns = kind == REFERENCE_WRITE ||
                          (record->type == REQUEST_MEMREADINV && hierarchy->readinv_owns);
        if (shape == SHAPE_PLAIN)
            cache_refer_plain(hierarchy, cache, record->address, bytes, kind);
        else if (!quick_hit(cache, record->address, kind, owns))
            break;
    }
    return i;
}

size_t hierarchy_put_quickly(struct hierarchy *hierarchy, const struct record *records,
                             size_t count)
{
    switch (hierarchy->shape) {
    case SHAPE_QUICK_HITS:
        return run(hierarchy, records, count, SHAPE_QUICK_HITS);
    case SHAPE_PLAIN:
        return run(hierarchy, records, count, SHAPE_PLAIN);
    case SHAPE_AGENTS:
    case SHAPE_NARROW:
        return narrow_put(hierarchy, records, count);
    default:
        return 0;
    }
}
