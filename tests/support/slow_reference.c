#include "tests/support/slow_internal.h"

#include <stdlib.h>
#include <string.h>

static unsigned rank(const struct slow_store *store)
{
    return (unsigned)store->processor * CACHE_SIDES + (unsigned)store->side;
}

struct slow_store *slow_store_for(struct slow_cache *cache, unsigned level, uint8_t processor,
                                  enum cache_side side)
{
    const struct cache_level *settings = &cache->settings.levels[level];
    uint8_t owner = settings->shared ? 0 : processor;
    enum cache_side half = settings->split ? side : CACHE_INSTRUCTION;
    struct slow_row *row = &cache->rows[level];
    unsigned at = 0;
    while (at < row->count && rank(row->stores[at]) < (unsigned)owner * CACHE_SIDES + half)
        at++;
    if (at < row->count && rank(row->stores[at]) == (unsigned)owner * CACHE_SIDES + half)
        return row->stores[at];
    memmove(row->stores + at + 1, row->stores + at, (row->count - at) * sizeof *row->stores);
    row->count++;
    row->stores[at] = slow_store_new(&cache->settings, level, owner, half);
    row->stores[at]->origin = &cache->origin;
    return row->stores[at];
}

static bool is_above(const struct slow_cache *cache, unsigned level, enum cache_inclusion inclusion)
{
    for (unsigned below = level + 1; below < cache->settings.level_count; below++)
        if (cache->settings.levels[below].inclusion == inclusion)
            return true;
    return false;
}

static bool exclusive(const struct slow_cache *cache, unsigned level)
{
    return level < cache->settings.level_count &&
           cache->settings.levels[level].inclusion == CACHE_EXCLUSIVE;
}

/* Whether one cache is above another. */
static bool is_cache_above(const struct slow_cache *cache, const struct slow_store *above,
                           const struct slow_store *store)
{
    const struct cache_level *level = &cache->settings.levels[store->level];
    return above->level < store->level && (level->shared || above->processor == store->processor) &&
           (!level->split || above->side == store->side);
}

/* Invalidates a line above one that is invalidated, and merges its dirty data into that one (a line
 * whose fill is under way holds only the bytes just written). */
static void give_up_into(struct slow_cache *cache, struct slow_store *above, struct slow_line *line,
                         struct slow_line *evicted, const struct slow_store *store, bool to_write)
{
    uint64_t address = line->number * above->settings.line;
    uint32_t *into = evicted->bytes + address % store->settings.line;
    slow_optimum_note(cache, above, line->number, SLOW_LOSS, REFERENCE_READ);
    struct slow_line taken = slow_take(line);
    above->counters.back_invalidations++;
    if (to_write)
        slow_lost(cache, above, taken.number);
    for (uint32_t i = 0; taken.dirty && i < above->settings.line; i++)
        if ((taken.dirty >> (i / above->settings.sub_block) & 1) && taken.bytes[i] != SLOW_UNKNOWN)
            into[i] = taken.bytes[i];
    if (taken.dirty)
        evicted->dirty = 1;
    free(taken.bytes);
}

void slow_give_up_above(struct slow_cache *cache, const struct slow_store *store,
                        struct slow_line *evicted, bool to_write)
{
    /* the cache nearest to the processor has the newest bytes, so it comes last */
    for (unsigned level = store->level; level-- > 0;)
        for (unsigned at = 0; at < cache->rows[level].count; at++) {
            struct slow_store *above = cache->rows[level].stores[at];
            if (!is_cache_above(cache, above, store))
                continue;
            uint64_t count = above->sets * above->settings.ways;
            for (uint64_t i = 0; i < count; i++) {
                struct slow_line *line = above->lines + i;
                if (line->there &&
                    line->number * above->settings.line / store->settings.line == evicted->number)
                    give_up_into(cache, above, line, evicted, store, to_write);
            }
        }
}

static void insert(struct slow_cache *cache, unsigned level, const struct slow_store *from,
                   const struct slow_line *line);

/* Disposes of an evicted line: writes it if dirty, or inserts it below. Frees its bytes. */
static void give_up(struct slow_cache *cache, struct slow_store *store, struct slow_line *line)
{
    if (line->there && exclusive(cache, store->level + 1))
        insert(cache, store->level + 1, store, line);
    else if (line->there)
        slow_write_runs(cache, store, line);
    free(line->bytes);
    memset(line, 0, sizeof *line);
}

static void insert(struct slow_cache *cache, unsigned level, const struct slow_store *from,
                   const struct slow_line *line)
{
    struct slow_store *store = slow_store_for(cache, level, from->processor, from->side);
    struct slow_line *mine = slow_find(store, line->number);
    struct slow_line old = {.there = false};
    store->counters.insertions++;
    slow_optimum_note(cache, store, line->number, SLOW_FETCH, REFERENCE_READ);
    if (mine)
        slow_use(store, mine);
    else
        mine = slow_place(store, line->number, &old);
    if (line->dirty || !mine->valid)
        memcpy(mine->bytes, line->bytes, store->settings.line * sizeof *mine->bytes);
    mine->valid = 1;
    mine->dirty |= line->dirty;
    give_up(cache, store, &old);
}

static void write_run(struct slow_cache *cache, struct slow_store *store, struct slow_line *line,
                      unsigned from, unsigned to)
{
    uint32_t sub_block = store->settings.sub_block;
    struct slow_reference reference = {.address = line->number * store->settings.line +
                                                  (uint64_t)from * sub_block,
                                       .size = (uint64_t)(to - from) * sub_block,
                                       .kind = REFERENCE_WRITE,
                                       .attribute = ATTRIBUTE_WRITE_BACK,
                                       .processor = store->processor,
                                       .side = store->side,
                                       .bytes = line->bytes + (size_t)from * sub_block};
    reference.cause = reference.address;
    reference.cause_size = reference.size;
    store->counters.write_backs++;
    store->counters.write_back_bytes += reference.size;
    slow_refer(cache, store->level + 1, &reference);
}

void slow_write_runs(struct slow_cache *cache, struct slow_store *store, struct slow_line *line)
{
    struct slow_line copy = *line;
    copy.bytes = slow_memory(store->settings.line, sizeof *copy.bytes);
    memcpy(copy.bytes, line->bytes, store->settings.line * sizeof *copy.bytes);
    uint64_t runs = line->dirty & line->valid;
    line->dirty = 0;
    for (unsigned to = store->settings.line / store->settings.sub_block; to > 0;) {
        unsigned from = to;
        while (from > 0 && runs >> (from - 1) & 1)
            from--;
        if (from < to)
            write_run(cache, store, &copy, from, to);
        to = from < to ? from : to - 1;
    }
    free(copy.bytes);
}

static void pass_write(struct slow_cache *cache, struct slow_store *store,
                       struct slow_reference *part)
{
    store->counters.write_throughs++;
    store->counters.write_through_bytes += part->size;
    slow_refer(cache, store->level + 1, part);
}

static void put_bytes(const struct slow_store *store, struct slow_line *line,
                      const struct slow_reference *part)
{
    uint64_t offset = part->address % store->settings.line;
    for (uint64_t i = 0; part->bytes && i < part->size; i++)
        if (part->bytes[i] != SLOW_UNKNOWN)
            line->bytes[offset + i] = part->bytes[i];
}

static void get_bytes(const struct slow_store *store, const uint32_t *bytes,
                      const struct slow_reference *part)
{
    if (part->kind != REFERENCE_WRITE && part->bytes)
        memcpy(part->bytes, bytes + part->address % store->settings.line,
               part->size * sizeof *bytes);
}

/* Attributes 1 and 2, "Cacheability". */
static void attribute_write(struct slow_cache *cache, struct slow_store *store,
                            struct slow_reference *part, struct slow_line *line, bool hit)
{
    if (hit && part->attribute == ATTRIBUTE_WRITE_PROTECT) {
        slow_optimum_note(cache, store, line->number, SLOW_LOSS, REFERENCE_READ);
        struct slow_line taken = slow_take(line);
        if (cache->settings.levels[store->level].inclusion == CACHE_INCLUSIVE)
            slow_give_up_above(cache, store, &taken, false);
        slow_write_runs(cache, store, &taken);
        free(taken.bytes);
    } else if (hit) {
        line->tags |= slow_sub_blocks(store, part->address, part->size);
        slow_use(store, line);
        put_bytes(store, line, part);
    }
    pass_write(cache, store, part);
}

/* Takes the bytes of sub-blocks that were not valid from the fill, except those just written. */
static void take_fill(const struct slow_store *store, uint32_t *bytes, uint64_t valid_before,
                      const uint32_t *filled, const struct slow_reference *fill,
                      const struct slow_reference *part)
{
    for (uint64_t i = 0; i < fill->size; i++) {
        uint64_t address = fill->address + i;
        uint64_t offset = address % store->settings.line;
        bool written = part->kind == REFERENCE_WRITE && part->bytes && address >= part->address &&
                       address < part->address + part->size;
        if (!written && !(valid_before >> (offset / store->settings.sub_block) & 1))
            bytes[offset] = filled[i];
    }
}

struct miss {
    struct slow_line replaced;
    uint64_t valid_before;
    bool snoops; /* the agent snoops */
    bool fills;
    bool needless; /* the agent needs no data for a write of its whole line */
};

/* Step 5.1. Also supplies the data of reads. */
static void fill(struct slow_cache *cache, struct slow_store *store, struct slow_reference *part,
                 const struct miss *miss)
{
    uint64_t number = slow_number(store, part->address);
    uint32_t sub_block = store->settings.sub_block;
    uint64_t from = part->address / sub_block * sub_block;
    uint64_t to = (part->address + part->size + sub_block - 1) / sub_block * sub_block;
    uint32_t *filled = slow_memory(to - from, sizeof *filled);
    uint32_t *bytes = slow_memory(store->settings.line, sizeof *bytes);
    const struct slow_line *begun = slow_find(store, number); /* write-backs may have removed it */
    if (begun)
        memcpy(bytes, begun->bytes, store->settings.line * sizeof *bytes);
    bool write = part->kind == REFERENCE_WRITE || part->for_write;
    struct slow_reference down = {.address = from,
                                  .size = to - from,
                                  .kind = part->kind == REFERENCE_FETCH ? REFERENCE_FETCH
                                                                        : REFERENCE_READ,
                                  .for_write = write,
                                  .whole = part->whole,
                                  .owns = part->owns,
                                  .attribute = ATTRIBUTE_WRITE_BACK,
                                  .processor = part->processor,
                                  .side = part->side,
                                  .cause = part->cause,
                                  .cause_size = part->cause_size,
                                  .bytes = filled};
    bool supplied = slow_is_agent(cache, store) && slow_snoop(cache, store, part, filled);
    bool fills = miss->fills && !miss->needless;
    if (fills && !supplied) {
        store->counters.fills++;
        store->counters.fill_bytes += down.size;
        slow_refer(cache, store->level + 1, &down);
    }
    struct slow_line *line = slow_find(store, number); /* may be invalid by now */
    if (fills || supplied) {
        take_fill(store, bytes, miss->valid_before, filled, &down, part);
        if (line)
            take_fill(store, line->bytes, miss->valid_before, filled, &down, part);
    }
    if (line && down.came_dirty)
        line->dirty = line->valid;
    get_bytes(store, bytes, part);
    free(bytes);
    free(filled);
}

static void count(struct slow_store *store, const struct slow_reference *part, bool miss,
                  bool line_miss)
{
    struct cache_counters *counters = &store->counters;
    (part->prefetch ? counters->prefetches : counters->references)[part->kind]++;
    if (miss)
        (part->prefetch ? counters->prefetch_misses : counters->misses)[part->kind]++;
    if (line_miss && !part->prefetch)
        counters->line_misses[part->kind]++;
}

/* Allocates a line after a line miss: from the victim buffer, or empty. NULL if the miss does not
 * allocate. */
static struct slow_line *make_line(struct slow_cache *cache, struct slow_store *store,
                                   uint64_t number, bool allocate, struct slow_line *replaced)
{
    struct slow_line victim = {.there = false};
    if (store->settings.victim_lines > 0)
        slow_victim_take(store, number, &victim);
    if (!victim.there && !allocate)
        return NULL;
    struct slow_line *line = slow_place(store, number, replaced);
    if (victim.there) {
        free(line->bytes);
        line->valid = victim.valid;
        line->dirty = victim.dirty;
        line->tags = victim.tags;
        line->bytes = victim.bytes;
    }
    if (store->settings.victim_lines > 0 && replaced->there)
        slow_victim_put(store, replaced);
    if (replaced->there && cache->settings.levels[store->level].inclusion == CACHE_INCLUSIVE)
        slow_give_up_above(cache, store, replaced, false);
    return line;
}

static void part_in(struct slow_cache *cache, struct slow_store *store,
                    struct slow_reference *part);

static bool wants_prefetch(const struct slow_store *store, const struct slow_reference *part,
                           bool miss, bool tagged)
{
    if (part->prefetch || part->kind == REFERENCE_WRITE)
        return false;
    switch (store->settings.prefetch) {
    case CACHE_PREFETCH_MISS:
        return miss;
    case CACHE_PREFETCH_ALWAYS:
        return true;
    case CACHE_PREFETCH_TAGGED:
        return miss || !tagged;
    default:
        return false;
    }
}

static void prefetch(struct slow_cache *cache, struct slow_store *store,
                     const struct slow_reference *part, uint64_t address, uint64_t size)
{
    struct slow_reference next = *part;
    next.address = address;
    next.size = size;
    next.prefetch = true;
    next.cause = next.address;
    next.cause_size = next.size;
    next.bytes = NULL;
    next.for_write = false;
    next.whole = false;
    next.owns = false;
    part_in(cache, store, &next);
}

/* Steps 3 to 5 for a line that is present now. placed: since this reference. */
static void work(struct slow_cache *cache, struct slow_store *store, struct slow_reference *part,
                 struct slow_line *line, bool miss, bool placed, struct slow_line *replaced)
{
    uint64_t mask = slow_sub_blocks(store, part->address, part->size);
    bool write = part->kind == REFERENCE_WRITE;
    bool early = is_above(cache, store->level, CACHE_INCLUSIVE);
    bool strict = early || is_above(cache, store->level, CACHE_EXCLUSIVE);
    bool covers = part->size % store->settings.sub_block == 0 &&
                  part->address % store->settings.sub_block == 0;
    bool missing = (line->valid & mask) != mask;
    struct miss fetch = {.valid_before = line->valid};
    fetch.fills =
        missing && (!write || (!store->settings.no_write_allocate && (!covers || strict)));
    fetch.snoops = missing && slow_is_agent(cache, store);
    fetch.needless = part->whole && slow_is_agent(cache, store) && !strict;
    bool ahead = wants_prefetch(store, part, miss, (line->tags & mask) != 0);
    if (miss && !missing)
        store->counters.victim_hits++;
    if (!placed)
        slow_use(store, line);
    line->valid |= mask;
    if (!part->prefetch)
        line->tags |= mask;
    if (write) {
        put_bytes(store, line, part);
        if (!store->settings.write_through)
            line->dirty |= mask;
    } else {
        get_bytes(store, line->bytes, part);
    }
    if (early)
        give_up(cache, store, replaced);
    if (fetch.fills || fetch.snoops)
        fill(cache, store, part, &fetch);
    if (write && store->settings.write_through)
        pass_write(cache, store, part);
    give_up(cache, store, replaced);
    uint32_t sub_block = store->settings.sub_block;
    if (ahead)
        prefetch(cache, store, part,
                 (uint32_t)((part->address + sub_block) / sub_block * sub_block), sub_block);
}

/* A reference that lies in one line. */
static void part_in(struct slow_cache *cache, struct slow_store *store, struct slow_reference *part)
{
    uint64_t number = slow_number(store, part->address);
    uint64_t mask = slow_sub_blocks(store, part->address, part->size);
    struct slow_line *line = slow_find(store, number);
    struct slow_line replaced = {.there = false};
    bool write = part->kind == REFERENCE_WRITE;
    bool miss = !line || (line->valid & mask) != mask;
    count(store, part, miss, !line);
    bool fresh = slow_prefetcher_demand(store, part, miss);
    slow_classify(cache, store, part, miss);
    slow_optimum_note(cache, store, number, part->prefetch ? SLOW_FETCH : SLOW_REFERENCE,
                      part->kind);
    if (exclusive(cache, store->level) && !write)
        slow_optimum_note(cache, store, number, SLOW_LOSS, REFERENCE_READ);
    if (write && part->attribute != ATTRIBUTE_WRITE_BACK) {
        attribute_write(cache, store, part, line, !miss);
        return;
    }
    if (exclusive(cache, store->level) && (miss || !write)) {
        if (write) {
            pass_write(cache, store, part);
        } else if (miss) {
            slow_refer(cache, store->level + 1, part);
        } else {
            struct slow_line taken = slow_take(line);
            part->came_dirty = taken.dirty != 0;
            get_bytes(store, taken.bytes, part);
            free(taken.bytes);
        }
        return;
    }
    bool placed = !line;
    if (!line)
        line = make_line(cache, store, number, !write || !store->settings.no_write_allocate,
                         &replaced);
    if (line)
        work(cache, store, part, line, miss, placed, &replaced);
    else
        pass_write(cache, store, part);
    uint64_t addresses[64];
    unsigned wanted = slow_prefetcher_train(store, part, fresh || miss, addresses);
    for (unsigned i = 0; i < wanted; i++)
        if (slow_prefetcher_issue(store, part, addresses[i]))
            prefetch(cache, store, part, addresses[i] / store->settings.line * store->settings.line,
                     store->settings.line);
}

static void memory(struct slow_cache *cache, struct slow_reference *reference)
{
    cache->counters.memory_references[reference->kind]++;
    cache->counters.memory_bytes[reference->kind] += reference->size;
    for (uint64_t i = 0; reference->bytes && i < reference->size; i++) {
        uint32_t *byte = slow_byte(&cache->memory, reference->address + i);
        if (reference->kind != REFERENCE_WRITE)
            reference->bytes[i] = *byte;
        else if (reference->bytes[i] != SLOW_UNKNOWN)
            *byte = reference->bytes[i];
    }
}

void slow_refer(struct slow_cache *cache, unsigned level, struct slow_reference *reference)
{
    if (level == cache->settings.level_count) {
        memory(cache, reference);
        return;
    }
    struct slow_store *store = slow_store_for(cache, level, reference->processor, reference->side);
    uint64_t line = store->settings.line;
    for (uint64_t done = 0; done < reference->size;) {
        struct slow_reference part = *reference;
        part.address = (uint32_t)(reference->address + done);
        part.size = line - part.address % line;
        if (part.size > reference->size - done)
            part.size = reference->size - done;
        part.bytes = reference->bytes ? reference->bytes + done : NULL;
        if (done > 0)
            store->counters.split++;
        if (level == 0)
            slow_part_begins(cache, &part);
        part_in(cache, store, &part);
        if (level == 0)
            slow_part_ends(cache, &part);
        reference->came_dirty |= part.came_dirty;
        done += part.size;
    }
}
