#include "tools/cache/model/narrow_internal.h"

#include "tools/cache/model/agents_internal.h"
#include "tools/cache/model/plain_internal.h"
#include "tools/cache/model/requests_internal.h"

#define BATCH 256u
#define TYPES 4u /* of memory references: the first ones */

/* A reference that waits: the address of its line, with these flags. */
#define WAITING_KIND  3u /* MOVE_KINDS */
#define WAITING_OWNS  4u
#define WAITING_FLAGS 7u

struct narrow_batch {
    unsigned count;
    uint32_t references[BATCH];
    struct cache *caches[BATCH];
};

/* The flags of lines. */
struct narrow_flags {
    uint32_t state; /* those that a reference that owns its line replaces */
    uint32_t owned; /* of a line that is owned */
    uint32_t alone; /* of one that is not, and is in no other agent */
};

/* 1 if a value is 0, else 0: in a register of full width, unlike a comparison that is spilled. */
NARROW_INLINE uint32_t is_zero(uint64_t value)
{
    return (uint32_t)((~value & (value - 1)) >> 63);
}

/* queue: of requests to the level below, NULL: there is none. Makes a reference that hits (the
 * entry of that way of the set) or misses, and involves no other cache of level 1. Returns the new
 * number of queued requests. There are no branches that depend on hits. */
NARROW_INLINE unsigned refer(struct cache *cache, struct narrow_flags flags, uint32_t *set,
                             uint32_t ways, uint32_t way, uint32_t miss, uint32_t reference,
                             struct request_queue *queue, unsigned queued)
{
    const uint32_t line = reference & ~NARROW_FLAGS;
    const uint32_t what = reference & WAITING_KIND;
    const uint32_t owns = 0 - (reference / WAITING_OWNS & 1);
    const uint32_t entry = set[way];
    const uint32_t dirty = miss & (entry / ENTRY_DIRTY);
    if (cache->optimum) {
        const enum reference_kind kind =
            what == MOVE_WHOLE ? REFERENCE_WRITE : (enum reference_kind)what;
        refer_optimum(cache, line, kind);
        if (miss)
            cache_sample_miss(cache, line);
    }
    const uint32_t kept = entry & ~(flags.state & owns);
    const uint32_t fresh = line | ENTRY_VALID | (flags.alone & ~owns);
    narrow_raise(set, ways, way, (kept ^ ((kept ^ fresh) & (0 - miss))) | (flags.owned & owns));
    cache->moves[what * MOVE_PLACES + miss + dirty]++;
    _Static_assert(REFERENCE_FETCH == 0 && REFERENCE_READ == 1 && MOVE_WHOLE == 3, "bits of kinds");
    if (!queue)
        return 0;
    return request_below(queue->requests, queued, cache, line, (what | what >> 1) & 1,
                         miss & ~(what & what >> 1), entry, dirty);
}

/* Makes the references of a batch. all_ways: of all caches; 0: they differ. */
NARROW_INLINE void work_plain(const struct narrow_batch *batch, struct request_queue *queue,
                              uint32_t all_ways)
{
    const struct narrow_flags flags = {.state = 0, .owned = ENTRY_DIRTY, .alone = 0};
    unsigned queued = queue ? queue->count : 0;
    for (unsigned i = 0; i < batch->count; i++) {
        const uint32_t reference = batch->references[i];
        struct cache *cache = batch->caches[i];
        const uint32_t ways = all_ways ? all_ways : cache->lines.ways;
        uint32_t *set = narrow_set(cache, reference);
        const uint64_t found = narrow_match(set, ways, (reference & ~NARROW_FLAGS) | NARROW_VALID);
        const uint32_t way = (uint32_t)__builtin_ctzll(found | 1ull << (ways - 1));
        queued = refer(cache, flags, set, ways, way, is_zero(found), reference, queue, queued);
    }
    if (queue)
        queue->count = queued;
}

/* The same, by a function of its own for each case that is frequent. */
NARROW_INLINE void work_ways(const struct narrow_batch *batch, struct request_queue *queue,
                             uint32_t ways)
{
    switch (ways) {
    case 1:
        work_plain(batch, queue, 1);
        break;
    case 4:
        work_plain(batch, queue, 4);
        break;
    case 8:
        work_plain(batch, queue, 8);
        break;
    default:
        work_plain(batch, queue, 0);
    }
}

/* The same for agents. all_words: of their joint sets; 0: to be looked up. Returns false if the
 * only reference is left to the caller (agents_refer). */
NARROW_INLINE bool work_agents(struct hierarchy *hierarchy, const struct narrow_batch *batch,
                               uint32_t all_ways, uint32_t all_words)
{
    const struct narrow_flags flags = {
        .state = ENTRY_STATE,
        .owned = ENTRY_MODIFIED | ENTRY_DIRTY,
        .alone = hierarchy->settings.coherence == CACHE_MSI ? ENTRY_SHARED : ENTRY_EXCLUSIVE};
    const struct joint_sets joint = hierarchy->joint;
    const size_t words = all_words ? all_words : joint.words;
    const struct line_store *lines = &hierarchy->agents[0]->lines;
    const unsigned shift = lines->line_shift;
    const uint32_t mask = lines->set_mask;
    struct request_queue *const queue = &hierarchy->queues[1];
    unsigned queued = queue->count;
    for (unsigned i = 0; i < batch->count; i++) {
        const uint32_t reference = batch->references[i];
        struct cache *cache = batch->caches[i];
        const uint32_t ways = all_ways ? all_ways : cache->lines.ways;
        uint32_t *all = joint.entries + (reference >> shift & mask) * words;
        uint32_t *set = all + cache->joint_offset;
        const struct agents_found found =
            agents_find(cache, all, words, ways, reference & ~NARROW_FLAGS);
        const uint32_t way = (uint32_t)__builtin_ctzll(found.own | 1ull << (ways - 1));
        const uint32_t miss = is_zero(found.own);
        if (agents_are_asked(&found, set[way], miss, reference / WAITING_OWNS & 1)) {
            queue->count = queued;
            if (!agents_refer(cache, set, &found, reference & ~NARROW_FLAGS,
                              reference & WAITING_KIND, reference & WAITING_OWNS))
                return false;
            queued = queue->count;
            continue;
        }
        queued = refer(cache, flags, set, ways, way, miss, reference, queue, queued);
    }
    queue->count = queued;
    return true;
}

static bool make_agents(struct hierarchy *hierarchy, const struct narrow_batch *batch,
                        uint32_t ways)
{
    const size_t words = hierarchy->joint.words;
    if (ways == 4 && words == 16)
        return work_agents(hierarchy, batch, 4, 16);
    if (ways == 4 && words == 32)
        return work_agents(hierarchy, batch, 4, 32);
    if (ways == 8 && words == 64)
        return work_agents(hierarchy, batch, 8, 64);
    return work_agents(hierarchy, batch, 0, 0);
}

/* Makes the references of a batch, by a function of its own for each case that is frequent. */
static bool make(struct hierarchy *hierarchy, struct narrow_batch *batch)
{
    const struct cache_level *first = &hierarchy->settings.levels[0];
    const uint32_t ways = first->sides[0].ways == first->sides[1].ways ? first->sides[0].ways : 0;
    bool done = true;
    if (hierarchy->queues[1].count > REQUESTS_MAX - REQUESTS_OF_ONE * BATCH)
        requests_make(hierarchy, 1);
    if (hierarchy->shape == SHAPE_AGENTS && batch->count > 0)
        done = make_agents(hierarchy, batch, ways);
    else if (hierarchy->settings.level_count > 1)
        work_ways(batch, &hierarchy->queues[1], ways);
    else
        work_ways(batch, NULL, ways);
    batch->count = 0;
    return done;
}

/* The low bit of a last line: a write to it changes nothing. No line has this one alone. */
#define LAST_OWNED 1u
#define NO_LINE    2u

/* What a record of a type is to the processor whose records come. */
struct narrow_type {
    uint32_t flags; /* of its references */
    uint32_t size;  /* bytes of a line */
    uint32_t side;
    uint32_t reads; /* LAST_OWNED: it does not own the line */
    struct cache *cache;
    uint64_t *repeated; /* counts references to the last line */
};

static void make_types(const struct hierarchy *hierarchy, struct narrow_type types[TYPES])
{
    const struct cache_level *first = &hierarchy->settings.levels[0];
    for (uint8_t number = 0; number < TYPES; number++) {
        struct narrow_type *type = &types[number];
        const bool owns =
            number == REQUEST_MEMWRITE || (number == REQUEST_MEMREADINV && hierarchy->readinv_owns);
        type->flags = reference_kind_of(number) | (owns ? WAITING_OWNS : 0);
        type->side = first->split && number != REQUEST_FETCH;
        type->size = first->sides[type->side].line;
        type->reads = owns ? 0 : LAST_OWNED;
    }
}

static void begin_processor(const struct hierarchy *hierarchy, unsigned number,
                            struct narrow_type types[TYPES])
{
    for (unsigned i = 0; i < TYPES; i++) {
        struct narrow_type *type = &types[i];
        type->cache = hierarchy->processors[number].first[type->side];
        type->repeated = &type->cache->moves[(type->flags & WAITING_KIND) * MOVE_PLACES + MOVE_HIT];
    }
}

/* Batches the references, but for those to the last line of a processor's cache that change
 * nothing: no other processor comes between, and its other cache neither takes the line nor cleans
 * it. */
NARROW_INLINE size_t put(struct hierarchy *hierarchy, const struct record *records, size_t count,
                         bool divided, bool split)
{
    const unsigned limit = hierarchy->accesses ? 1 : BATCH;
    struct narrow_type types[TYPES];
    uint32_t last[CACHE_SIDES] = {NO_LINE, NO_LINE};
    unsigned number = CACHE_PROCESSORS;
    unsigned waiting = 0;
    struct narrow_batch batch;
    make_types(hierarchy, types);
    size_t i = 0;
    for (; i < count; i++) {
        const struct record *record = &records[i];
        record_prefetch(record);
        const uint32_t address = record->address;
        if (record->type >= TYPES) {
            if (hierarchy->accesses)
                break;
            hierarchy_drop(hierarchy, record);
            continue;
        }
        if (record->processor != number) {
            number = record->processor;
            if (!hierarchy->occurs[number])
                break;
            begin_processor(hierarchy, number, types);
            last[0] = last[1] = NO_LINE;
        }
        const struct narrow_type *type = &types[record->type];
        const uint32_t offset = address & (type->size - 1);
        if (offset + record->size > type->size)
            break;
        if (divided && !hierarchy_is_mine(hierarchy, address))
            continue;
        const uint32_t line = address - offset;
        const uint32_t side = split ? type->side : 0;
        const uint32_t repeats = ((last[side] ^ line) | type->reads) == LAST_OWNED;
        const uint32_t whole = (record->size == type->size) & (type->flags >> 1);
        last[side] = line | (type->reads ^ LAST_OWNED);
        if (split && (last[1 - side] ^ line) <= LAST_OWNED)
            last[1 - side] = type->reads ? line : NO_LINE;
        *type->repeated += repeats;
        batch.caches[waiting] = type->cache;
        batch.references[waiting] = (line | type->flags) + whole;
        waiting += repeats ^ 1;
        if (waiting == limit) {
            batch.count = waiting;
            waiting = 0;
            if (!make(hierarchy, &batch))
                break;
        }
    }
    batch.count = waiting;
    make(hierarchy, &batch);
    return i;
}

size_t narrow_put(struct hierarchy *hierarchy, const struct record *records, size_t count)
{
    const bool split = hierarchy->settings.levels[0].split;
    if (hierarchy->parts > 1)
        return put(hierarchy, records, count, true, true);
    return split ? put(hierarchy, records, count, false, true)
                 : put(hierarchy, records, count, false, false);
}
