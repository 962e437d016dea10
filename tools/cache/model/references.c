/* One reference to one cache: doc/cache-model.md, sections of the same names. */
#include "tools/cache/model/hierarchy_internal.h"
#include "tools/cache/model/optimum.h"

/* Bits first to last of a mask. */
static uint64_t mask_of(unsigned first, unsigned last)
{
    return (~0ull >> (63 - (last - first))) << first;
}

/* The sub-blocks that a reference within one line touches. */
static uint64_t touched_by(const struct cache *cache, const struct cache_reference *reference)
{
    if (!cache->lines.masks)
        return 1;
    uint32_t offset = reference->address - cache_line_address(cache, reference->address);
    return mask_of(offset / cache->sub_block, (offset + reference->bytes - 1) / cache->sub_block);
}

void cache_sample_miss(struct cache *cache, uint32_t address)
{
    if (cache->optimum->groups)
        cache->counters.sample_misses[optimum_group(cache->optimum, address)]++;
}

static void count(struct cache *cache, const struct cache_reference *reference, bool hit,
                  bool line_there)
{
    struct cache_counters *counters = &cache->counters;
    if (reference->prefetch) {
        counters->prefetches[reference->kind]++;
        counters->prefetch_misses[reference->kind] += !hit;
        return;
    }
    counters->references[reference->kind]++;
    counters->misses[reference->kind] += !hit;
    counters->line_misses[reference->kind] += !line_there;
    if (!line_there && cache->optimum)
        cache_sample_miss(cache, reference->address);
}

/* Sends a write down unchanged. */
static void pass_on(struct cache *cache, const struct cache_reference *write)
{
    cache->counters.write_throughs++;
    cache->counters.write_through_bytes += write->bytes;
    cache_refer(cache->hierarchy, cache->below, write);
}

static void prefetch(struct cache *cache, const struct cache_reference *reference)
{
    struct cache_reference next = {.address = (reference->address + cache->sub_block) &
                                              ~(cache->sub_block - 1),
                                   .bytes = cache->sub_block,
                                   .kind = reference->kind,
                                   .prefetch = true};
    next.cause_address = next.address;
    next.cause_bytes = next.bytes;
    cache_refer_part(cache, &next);
}

void cache_write_back(struct cache *cache, const struct cache_line *line)
{
    uint64_t dirty = line->dirty & line->valid;
    while (dirty != 0) {
        unsigned last = 63 - (unsigned)__builtin_clzll(dirty);
        unsigned first = last;
        while (first > 0 && (dirty >> (first - 1) & 1))
            first--;
        struct cache_reference write = {.address = line->address + first * cache->sub_block,
                                        .bytes = (last - first + 1) * cache->sub_block,
                                        .kind = REFERENCE_WRITE};
        write.cause_address = write.address;
        write.cause_bytes = write.bytes;
        cache->counters.write_backs++;
        cache->counters.write_back_bytes += write.bytes;
        cache_refer(cache->hierarchy, cache->below, &write);
        dirty &= ~mask_of(first, last);
    }
}

void cache_dispose(struct cache *cache, const struct cache_line *line)
{
    if (line->valid == 0)
        return;
    if (cache->below && cache->below->inclusion == CACHE_EXCLUSIVE)
        exclusive_insert(cache->below, line->address, line->dirty != 0);
    else if (line->dirty)
        cache_write_back(cache, line);
}

/* Reads the touched sub-blocks, whole, from below. Returns whether they are dirty. */
static bool fill(struct cache *cache, const struct cache_reference *reference)
{
    struct cache_reference from_below = *reference;
    uint32_t end = reference->address + reference->bytes + cache->sub_block - 1;
    from_below.address = reference->address & ~(cache->sub_block - 1);
    from_below.bytes = (end & ~(cache->sub_block - 1)) - from_below.address;
    from_below.kind = reference->kind == REFERENCE_FETCH ? REFERENCE_FETCH : REFERENCE_READ;
    from_below.prefetch = false;
    cache->counters.fills++;
    cache->counters.fill_bytes += from_below.bytes;
    return cache_refer(cache->hierarchy, cache->below, &from_below);
}

/* Whether a missing reference fills its sub-blocks. */
static bool is_filled(const struct cache *cache, const struct cache_reference *reference)
{
    if (reference->kind != REFERENCE_WRITE)
        return true;
    if (cache->settings->no_write_allocate)
        return false;
    return cache->always_fills ||
           ((reference->address | reference->bytes) & (cache->sub_block - 1)) != 0;
}

/* Marks the line of an address, wherever it is now, as dirty as a whole. */
static void make_dirty(struct cache *cache, uint32_t address)
{
    size_t slot = line_store_find(&cache->lines, address);
    if (slot == LINE_NONE)
        return;
    struct cache_line line = line_store_get(&cache->lines, slot);
    line.dirty = line.valid;
    line_store_put(&cache->lines, slot, &line);
}

/* Makes room for an absent line. *line is the line from the victim buffer, or a new one; *replaced
 * is the evicted line, valid 0 if none. */
static size_t make_room(struct cache *cache, uint32_t address, bool buffered,
                        struct cache_line *line, struct cache_line *replaced)
{
    struct cache_line old;
    size_t slot = line_store_allocate(&cache->lines, address, &old);
    if (!buffered)
        *line = (struct cache_line){.address = cache_line_address(cache, address)};
    if (old.valid && cache->inclusion == CACHE_INCLUSIVE)
        inclusion_give_up(cache, &old);
    if (!cache->victim)
        *replaced = old;
    else if (old.valid)
        victim_put(cache->victim, &old, replaced);
    return slot;
}

/* Step 5 of a miss. served: by the victim buffer. */
static void cause(struct cache *cache, const struct cache_reference *reference, bool served,
                  const struct cache_line *replaced)
{
    bool dirty = false;
    bool complete = false;
    if (cache->early_write_backs)
        cache_dispose(cache, replaced);
    if (cache->agent && !served)
        complete = coherence_miss(cache, reference->address, &dirty);
    if (!served && !complete && is_filled(cache, reference))
        dirty = fill(cache, reference);
    if (dirty)
        make_dirty(cache, reference->address);
    if (reference->kind == REFERENCE_WRITE && cache->settings->write_through)
        pass_on(cache, reference);
    if (!cache->early_write_backs)
        cache_dispose(cache, replaced);
    if (reference->kind != REFERENCE_WRITE && !reference->prefetch &&
        cache->settings->prefetch != CACHE_NO_PREFETCH)
        prefetch(cache, reference);
}

static void touch(struct cache *cache, size_t slot, struct cache_line *line,
                  const struct cache_reference *reference, uint64_t touched)
{
    line->valid |= touched;
    if (!reference->prefetch)
        line->touched |= touched;
    if (reference->kind == REFERENCE_WRITE && !cache->settings->write_through)
        line->dirty |= touched;
    line_store_put(&cache->lines, slot, line);
}

/* A miss. slot LINE_NONE: the line is absent. */
static void miss(struct cache *cache, const struct cache_reference *reference, size_t slot,
                 struct cache_line *line)
{
    uint64_t touched = touched_by(cache, reference);
    bool allocates = reference->kind != REFERENCE_WRITE || !cache->settings->no_write_allocate;
    bool served = false;
    struct cache_line replaced = {.valid = 0};
    if (slot == LINE_NONE) {
        bool buffered =
            cache->victim &&
            victim_take(cache->victim, cache_line_address(cache, reference->address), line);
        if (!buffered && !allocates) {
            pass_on(cache, reference);
            return;
        }
        served = buffered && (touched & ~line->valid) == 0;
        cache->counters.victim_hits += served;
        slot = make_room(cache, reference->address, buffered, line, &replaced);
    } else {
        slot = line_store_use(&cache->lines, slot);
    }
    touch(cache, slot, line, reference, touched);
    cause(cache, reference, served, &replaced);
}

/* A write with attribute 1 or 2: does not allocate, updates a line that it hits, and is passed
 * down. */
static void write_past(struct cache *cache, const struct cache_reference *write, size_t slot,
                       struct cache_line *line, bool hit)
{
    if (hit && write->protected)
        line_store_remove(&cache->lines, slot);
    if (hit && write->protected) {
        if (cache->inclusion == CACHE_INCLUSIVE)
            inclusion_give_up(cache, line);
        cache_write_back(cache, line);
    } else if (hit) {
        slot = line_store_use(&cache->lines, slot);
        line->touched |= touched_by(cache, write);
        line_store_put(&cache->lines, slot, line);
    }
    pass_on(cache, write);
}

static void hit_line(struct cache *cache, const struct cache_reference *reference, size_t slot,
                     struct cache_line *line)
{
    uint64_t touched = touched_by(cache, reference);
    bool first = (line->touched & touched) == 0;
    slot = line_store_use(&cache->lines, slot);
    touch(cache, slot, line, reference, touched);
    if (reference->kind == REFERENCE_WRITE) {
        if (cache->settings->write_through)
            pass_on(cache, reference);
        return;
    }
    if (!reference->prefetch && (cache->settings->prefetch == CACHE_PREFETCH_ALWAYS ||
                                 (cache->settings->prefetch == CACHE_PREFETCH_TAGGED && first)))
        prefetch(cache, reference);
}

void cache_refer_optimum(struct cache *cache, uint32_t address, enum reference_kind kind)
{
    if (!optimum_counts(cache->optimum, address) || optimum_refer(cache->optimum, address))
        return;
    cache->counters.optimum_misses[kind]++;
    if (cache->optimum->groups)
        cache->counters.sample_optimum[optimum_group(cache->optimum, address)][kind]++;
    if (optimum_failed(cache->optimum))
        cache->hierarchy->no_memory = true;
}

/* The same reference to the optimum's cache. */
static void refer_optimum(struct cache *cache, const struct cache_reference *reference)
{
    if (reference->prefetch)
        optimum_fetch(cache->optimum, reference->address);
    else
        cache_refer_optimum(cache, reference->address, reference->kind);
    if (cache->inclusion == CACHE_EXCLUSIVE && reference->kind != REFERENCE_WRITE)
        optimum_lose(cache->optimum, reference->address); /* it moves up */
}

bool cache_refer_part(struct cache *cache, const struct cache_reference *reference)
{
    struct cache_line line = {.valid = 0};
    size_t slot = line_store_find(&cache->lines, reference->address);
    if (slot != LINE_NONE)
        line = line_store_get(&cache->lines, slot);
    bool hit = slot != LINE_NONE && (touched_by(cache, reference) & ~line.valid) == 0;
    count(cache, reference, hit, slot != LINE_NONE);
    if (cache->classifier)
        classify_reference(cache, reference, hit);
    if (cache->optimum)
        refer_optimum(cache, reference);
    bool fresh = !hit;
    if (cache->prefetcher && !reference->prefetch)
        fresh = prefetcher_demand(cache, reference->address, hit, line.touched != 0) || !hit;
    if (reference->through)
        write_past(cache, reference, slot, &line, hit);
    else if (cache->inclusion == CACHE_EXCLUSIVE && (!hit || reference->kind != REFERENCE_WRITE))
        return exclusive_refer(cache, reference);
    else if (hit)
        hit_line(cache, reference, slot, &line);
    else
        miss(cache, reference, slot, &line);
    if (cache->prefetcher && !reference->prefetch && reference->kind != REFERENCE_WRITE)
        prefetcher_train(cache, reference, fresh);
    return false;
}

bool cache_refer(struct hierarchy *hierarchy, struct cache *cache,
                 const struct cache_reference *reference)
{
    if (!cache || (cache->plain && (reference->address & (cache->settings->line - 1)) +
                                           (uint64_t)reference->bytes <=
                                       cache->settings->line)) {
        cache_refer_plain(hierarchy, cache, reference->address, reference->bytes, reference->kind);
        return false;
    }
    struct cache_reference part = *reference;
    uint32_t line = cache->settings->line;
    uint32_t left = reference->bytes;
    for (;;) {
        uint32_t room = line - (part.address & (line - 1));
        part.bytes = left < room ? left : room;
        bool dirty = cache_refer_part(cache, &part);
        left -= part.bytes;
        if (left == 0)
            return dirty;
        cache->counters.split++;
        part.address += part.bytes;
    }
}
