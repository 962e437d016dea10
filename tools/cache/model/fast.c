/*
 * Fast path: hits in level 1, and hierarchies of plain caches only. It counts what references.c
 * counts; all other cases go there.
 *
 * A plain cache is LRU, write-back, write-allocate, without sub-blocks, prefetch, victim buffer,
 * inclusion and exclusion; its lines are at most as long as those of the level below.
 */
#include "formats/base/power.h"
#include "tools/cache/model/hierarchy_internal.h"
#include "tools/cache/model/optimum.h"

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

/* Whether the agents are the level 1 caches, and everything but coherence is plain. */
static bool has_plain_agents(const struct hierarchy_settings *settings)
{
    struct hierarchy_settings incoherent = *settings;
    incoherent.coherence = CACHE_INCOHERENT;
    return settings->coherence != CACHE_INCOHERENT &&
           (settings->level_count == 1 || settings->levels[1].shared) &&
           hierarchy_is_plain(&incoherent, 0, CACHE_INSTRUCTION) &&
           hierarchy_is_plain(&incoherent, 0, CACHE_DATA);
}

enum hierarchy_shape hierarchy_shape_of(const struct hierarchy_settings *settings)
{
    if (settings->classify || settings->honour_attributes)
        return SHAPE_ANY;
    if (has_plain_agents(settings))
        return SHAPE_AGENTS;
    bool plain = settings->coherence == CACHE_INCOHERENT;
    bool direct = settings->level_count == 1;
    for (unsigned number = 0; number < settings->level_count; number++)
        for (unsigned side = 0; side < side_count(&settings->levels[number]); side++) {
            const struct cache_settings *cache = &settings->levels[number].sides[side];
            plain = plain && is_plain(settings, number, side);
            direct = direct && cache->ways == 1;
            if (number == 0 && !has_quick_hits(cache))
                return SHAPE_ANY;
        }
    return !plain ? SHAPE_QUICK_HITS : direct ? SHAPE_PLAIN_DIRECT : SHAPE_PLAIN;
}

/* the tag that a line is searched by */
static inline uint64_t tag_of(const struct cache *cache, uint32_t address)
{
    return (uint64_t)cache_line_address(cache, address) << 32 | ENTRY_VALID;
}

static inline uint64_t *set_of(const struct cache *cache, uint32_t address)
{
    uint32_t set = (address >> cache->lines.line_shift) & cache->lines.set_mask;
    return cache->lines.entries + (size_t)set * cache->lines.ways;
}

/* Searches a line from the second way on, moving each entry it passes down by one way; the caller
 * fills the first way. Returns the line's entry, or 0, with the evicted entry in *last. */
static inline uint64_t raise_line(uint64_t *set, uint32_t ways, uint64_t tag, uint64_t *last)
{
    uint64_t moving = set[0];
    for (uint32_t way = 1; way < ways; way++) {
        uint64_t next = set[way];
        set[way] = moving;
        if ((next & ENTRY_TAG) == tag)
            return next;
        moving = next;
    }
    *last = moving;
    return 0;
}

/* The reference to the optimum's cache, unless it repeats the last one of its set. */
static inline void refer_optimum(struct cache *cache, uint32_t address, enum reference_kind kind)
{
    if (optimum_group(cache->optimum, address) && !optimum_repeats(cache->optimum, address))
        cache_refer_optimum(cache, address, kind);
}

/* The requests of a plain cache to the next level on a miss. whole: the write covers a line. */
static void plain_miss(struct cache *cache, uint32_t address, enum reference_kind kind, bool whole,
                       uint64_t replaced);

void cache_refer_plain(struct hierarchy *hierarchy, struct cache *cache, uint32_t address,
                       uint32_t bytes, enum reference_kind kind)
{
    if (!cache) {
        hierarchy->counters.memory_references[kind]++;
        hierarchy->counters.memory_bytes[kind] += bytes;
        return;
    }
    uint64_t *set = set_of(cache, address);
    const uint64_t tag = tag_of(cache, address);
    const uint64_t dirty = kind == REFERENCE_WRITE ? ENTRY_DIRTY : 0;
    uint64_t replaced = 0;
    cache->counters.references[kind]++;
    if ((set[0] & ENTRY_TAG) == tag) {
        set[0] |= dirty;
        return;
    }
    if (cache->optimum && optimum_group(cache->optimum, address))
        cache_refer_optimum(cache, address, kind);
    uint64_t found = raise_line(set, cache->lines.ways, tag, &replaced);
    set[0] = (found ? found : tag) | dirty;
    if (!found)
        plain_miss(cache, address, kind, dirty != 0 && bytes == cache->settings->line, replaced);
}

static void plain_miss(struct cache *cache, uint32_t address, enum reference_kind kind, bool whole,
                       uint64_t replaced)
{
    uint32_t line = cache->settings->line;
    cache->counters.misses[kind]++;
    cache->counters.line_misses[kind]++;
    if (cache->optimum)
        cache_sample_miss(cache, address, kind);
    if (!whole) {
        cache->counters.fills++;
        cache->counters.fill_bytes += line;
        cache_refer_plain(cache->hierarchy, cache->below, cache_line_address(cache, address), line,
                          kind == REFERENCE_FETCH ? REFERENCE_FETCH : REFERENCE_READ);
    }
    if (replaced & ENTRY_DIRTY) {
        cache->counters.write_backs++;
        cache->counters.write_back_bytes += line;
        cache_refer_plain(cache->hierarchy, cache->below, (uint32_t)(replaced >> 32), line,
                          REFERENCE_WRITE);
    }
}

/* A reference to a plain level 1. */
static inline void plain_first(struct cache *cache, uint32_t address, uint32_t bytes,
                               enum reference_kind kind, bool direct)
{
    uint64_t *set = set_of(cache, address);
    const uint64_t tag = tag_of(cache, address);
    const uint64_t dirty = kind == REFERENCE_WRITE ? ENTRY_DIRTY : 0;
    const uint64_t first = set[0];
    cache->counters.references[kind]++;
    if ((first & ENTRY_TAG) == tag) {
        set[0] = first | dirty;
        return;
    }
    if (cache->optimum && optimum_group(cache->optimum, address))
        cache_refer_optimum(cache, address, kind);
    uint64_t replaced = first;
    uint64_t found = direct ? 0 : raise_line(set, cache->lines.ways, tag, &replaced);
    set[0] = (found ? found : tag) | dirty;
    if (!found)
        plain_miss(cache, address, kind, dirty != 0 && bytes == cache->settings->line, replaced);
}

/* Whether another agent holds a line. */
static bool others_have(const struct cache *agent, uint32_t address)
{
    const struct hierarchy *hierarchy = agent->hierarchy;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        const struct cache *other = hierarchy->agents[i];
        const uint64_t *set = set_of(other, address);
        const uint64_t tag = tag_of(other, address);
        for (uint32_t way = 0; way < other->lines.ways; way++)
            if ((set[way] & ENTRY_TAG) == tag)
                return true; /* agent itself missed, so it does not hold the line */
    }
    return false;
}

/* A miss in an agent of a line that no other agent holds. owns: a write, or MEMREADINV. Returns
 * false if another agent does. */
static bool lonely_miss(struct cache *agent, uint64_t *set, uint32_t address, uint32_t bytes,
                        enum reference_kind kind, bool owns)
{
    if (others_have(agent, address))
        return false;
    if (agent->optimum)
        refer_optimum(agent, address, kind);
    enum line_state state = owns                                                ? LINE_MODIFIED
                            : agent->hierarchy->settings.coherence == CACHE_MSI ? LINE_SHARED
                                                                                : LINE_EXCLUSIVE;
    uint32_t last = agent->lines.ways - 1;
    uint64_t replaced = set[last];
    for (; last > 0; last--)
        set[last] = set[last - 1];
    set[0] =
        tag_of(agent, address) | (uint64_t)state << ENTRY_STATE_SHIFT | (owns ? ENTRY_DIRTY : 0);
    agent->counters.references[kind]++;
    plain_miss(agent, address, kind, kind == REFERENCE_WRITE && bytes == agent->settings->line,
               replaced);
    return true;
}

/* A hit or a miss in level 1 that involves no other level 1 cache. Returns false if it does. */
static inline bool quick_hit(struct cache *cache, uint32_t address, uint32_t bytes,
                             enum reference_kind kind, bool owns, bool agents)
{
    uint64_t *set = set_of(cache, address);
    const uint64_t tag = tag_of(cache, address);
    uint32_t way = 0;
    while (way < cache->lines.ways && (set[way] & ENTRY_TAG) != tag)
        way++;
    if (way == cache->lines.ways)
        return agents && lonely_miss(cache, set, address, bytes, kind, owns);
    uint64_t found = set[way];
    if (owns) {
        if (cache->hierarchy->settings.coherence != CACHE_INCOHERENT &&
            (!cache->agent || (found & ENTRY_STATE) != (uint64_t)LINE_MODIFIED
                                                           << ENTRY_STATE_SHIFT))
            return false;
        found |= ENTRY_DIRTY;
    }
    if (cache->optimum)
        refer_optimum(cache, address, kind);
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = found;
    cache->counters.references[kind]++;
    return true;
}

/* The kind of a record's reference, without branches. */
static inline enum reference_kind kind_of(uint8_t type)
{
    static const uint8_t kinds[4] = {REFERENCE_FETCH, REFERENCE_READ, REFERENCE_READ,
                                     REFERENCE_WRITE};
    _Static_assert(REQUEST_FETCH == 0 && REQUEST_MEMREAD == 1 && REQUEST_MEMREADINV == 2 &&
                       REQUEST_MEMWRITE == 3,
                   "the four types of memory requests are the first");
    return type < 4 ? (enum reference_kind)kinds[type] : REFERENCE_NONE;
}

static inline size_t run(struct hierarchy *hierarchy, const struct record *records, size_t count,
                         enum hierarchy_shape shape)
{
    size_t i = 0;
    for (; i < count; i++) {
        const struct record *record = &records[i];
        enum reference_kind kind = kind_of(record->type);
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
        if (shape == SHAPE_QUICK_HITS || shape == SHAPE_AGENTS) {
            bool owns = kind == REFERENCE_WRITE ||
                        (record->type == REQUEST_MEMREADINV && hierarchy->readinv_owns);
            if (!quick_hit(cache, record->address, bytes, kind, owns, shape == SHAPE_AGENTS))
                break;
        } else {
            plain_first(cache, record->address, bytes, kind, shape == SHAPE_PLAIN_DIRECT);
        }
    }
    return i;
}

size_t hierarchy_put_quickly(struct hierarchy *hierarchy, const struct record *records,
                             size_t count)
{
    switch (hierarchy->shape) {
    case SHAPE_QUICK_HITS:
        return run(hierarchy, records, count, SHAPE_QUICK_HITS);
    case SHAPE_AGENTS:
        return run(hierarchy, records, count, SHAPE_AGENTS);
    case SHAPE_PLAIN:
        return run(hierarchy, records, count, SHAPE_PLAIN);
    case SHAPE_PLAIN_DIRECT:
        return run(hierarchy, records, count, SHAPE_PLAIN_DIRECT);
    default:
        return 0;
    }
}
