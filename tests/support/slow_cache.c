#include "tests/support/slow_cache.h"

#include "tests/support/slow_internal.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX ((uint64_t)1 << 20)
#define LINE_MAX  65536u

static bool too_large(const struct cache_settings *settings)
{
    return settings->line > LINE_MAX || settings->size / settings->line > LINES_MAX;
}

static unsigned sides(const struct cache_level *level)
{
    return level->split ? CACHE_SIDES : 1;
}

/* Whether the model, or Dinero IV's rules in it, allow reads to get old data. */
static bool old_by_rule(const struct hierarchy_settings *settings)
{
    bool split = settings->levels[0].split;
    for (unsigned level = 0; level < settings->level_count; level++) {
        if (split && settings->levels[level].inclusion == CACHE_EXCLUSIVE)
            return true; /* instruction and data caches above it are not kept coherent */
        for (unsigned side = 0; side < sides(&settings->levels[level]); side++) {
            const struct cache_settings *cache = &settings->levels[level].sides[side];
            bool sub_blocks = cache->sub_block != 0 && cache->sub_block < cache->line;
            if (sub_blocks && (cache->no_write_allocate || settings->honour_attributes))
                return true;
            if (cache->victim_lines > 0 && settings->honour_attributes)
                return true;
        }
    }
    return false;
}

unsigned slow_agents_level(const struct hierarchy_settings *settings)
{
    if (settings->coherence == CACHE_INCOHERENT)
        return settings->level_count;
    unsigned level = 0;
    while (level + 1 < settings->level_count && !settings->levels[level + 1].shared)
        level++;
    return level;
}

/* Instruction caches of split levels are informed of writes only as agents, or above them. */
static bool fetches_old_by_rule(const struct hierarchy_settings *settings)
{
    unsigned agents = slow_agents_level(settings);
    if (!settings->levels[0].split)
        return false;
    return agents == settings->level_count || !settings->levels[agents].split ||
           (agents + 1 < settings->level_count && settings->levels[agents + 1].split);
}

struct slow_cache *slow_cache_new(const struct hierarchy_settings *settings)
{
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < sides(&settings->levels[level]); side++)
            if (too_large(&settings->levels[level].sides[side]))
                return NULL;
    struct slow_cache *cache = slow_memory(1, sizeof *cache);
    cache->settings = *settings;
    cache->agents = slow_agents_level(settings);
    cache->lines.value_bytes = sizeof(struct cache_line_counters);
    cache->memory.value_bytes = cache->newest.value_bytes = sizeof(uint32_t[SLOW_PAGE_BYTES]);
    cache->reads_may_be_old = old_by_rule(settings);
    cache->fetches_may_be_old = fetches_old_by_rule(settings);
    return cache;
}

void slow_cache_free(struct slow_cache *cache)
{
    if (!cache)
        return;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++)
            slow_store_free(cache->rows[level].stores[at]);
    slow_map_clear(&cache->lines);
    slow_map_clear(&cache->memory);
    slow_map_clear(&cache->newest);
    free(cache);
}

void slow_cache_watch(struct slow_cache *cache)
{
    cache->watch = true;
}

const char *slow_cache_broken(const struct slow_cache *cache)
{
    return cache->broken[0] ? cache->broken : NULL;
}

uint64_t slow_cache_reads_checked(const struct slow_cache *cache)
{
    return cache->reads_checked;
}

uint32_t *slow_byte(struct slow_map *pages, uint64_t address)
{
    uint32_t *page = slow_map_at(pages, address / SLOW_PAGE_BYTES);
    return page + address % SLOW_PAGE_BYTES;
}

void slow_part_begins(struct slow_cache *cache, struct slow_reference *part)
{
    part->cause = part->address;
    part->cause_size = part->size;
    if (part->kind != REFERENCE_WRITE && !part->owns)
        return;
    part->for_write = true;
    part->whole =
        part->kind == REFERENCE_WRITE && part->size == cache->settings.levels[0].sides[0].line;
    for (uint64_t i = 0; part->kind == REFERENCE_WRITE && i < part->size; i++)
        *slow_byte(&cache->newest, part->address + i) = part->bytes[i];
    if (cache->settings.coherence != CACHE_INCOHERENT)
        slow_own(cache, part);
}

void slow_part_ends(struct slow_cache *cache, const struct slow_reference *part)
{
    if (part->kind == REFERENCE_WRITE || cache->reads_may_be_old ||
        (part->kind == REFERENCE_FETCH && cache->fetches_may_be_old))
        return;
    for (uint64_t i = 0; i < part->size; i++)
        if (part->bytes[i] != *slow_byte(&cache->newest, part->address + i)) {
            slow_complain(cache, "a read does not get the newest data", part->address + i);
            return;
        }
    cache->reads_checked++;
}

/* A part of an uncacheable reference that caches agree with. */
static void uncached_part(struct slow_cache *cache, const struct slow_reference *part)
{
    slow_uncached(cache, part);
    for (uint64_t i = 0; i < part->size; i++) {
        uint32_t *byte = slow_byte(&cache->memory, part->address + i);
        uint32_t *newest = slow_byte(&cache->newest, part->address + i);
        if (part->kind == REFERENCE_WRITE)
            *byte = *newest = part->bytes[i];
        else if (*byte != *newest && !cache->reads_may_be_old)
            slow_complain(cache, "an uncacheable read does not get the newest data",
                          part->address + i);
        cache->reads_checked += part->kind != REFERENCE_WRITE && !cache->reads_may_be_old;
    }
}

/* An uncacheable record: of write combining memory, of incoherent caches, or of coherent ones. */
static void uncached(struct slow_cache *cache, const struct record *record,
                     struct slow_reference *reference)
{
    bool combining = (record->attribute & 7) == 4;
    cache->counters.uncached[reference->kind]++;
    if (combining)
        cache->counters.write_combining[reference->kind]++;
    if (combining || cache->settings.coherence == CACHE_INCOHERENT) {
        cache->reads_may_be_old = true;
        return;
    }
    uint64_t line = cache->settings.levels[0].sides[0].line;
    for (uint64_t done = 0; done < reference->size;) {
        struct slow_reference part = *reference;
        part.address = (uint32_t)(reference->address + done);
        part.size = line - part.address % line;
        if (part.size > reference->size - done)
            part.size = reference->size - done;
        uncached_part(cache, &part);
        done += part.size;
    }
}

static void note_processor(struct slow_cache *cache, uint8_t processor)
{
    cache->processor_count += !cache->processors[processor];
    if (cache->processor_count == 2 && !cache->processors[processor] &&
        cache->settings.automatic_coherence)
        slow_become_coherent(cache);
    cache->processors[processor] = true;
    if (cache->processor_count > 1 && cache->settings.coherence == CACHE_INCOHERENT &&
        !cache->settings.levels[0].shared)
        cache->reads_may_be_old = true;
}

static void put(struct slow_cache *cache, const struct record *record)
{
    uint32_t bytes[256];
    enum reference_kind kind = reference_kind_of(record->type);
    cache->counters.records++;
    if (kind == REFERENCE_NONE) {
        cache->counters.dropped[request_type_ordinal(record->type)]++;
        return;
    }
    note_processor(cache, record->processor);
    if (kind == REFERENCE_FETCH)
        cache->origins[record->processor] =
            (struct slow_origin){.known = true, .instruction = record->address};
    cache->origin = cache->origins[record->processor];
    struct slow_reference reference = {
        .address = record->address,
        .size = reference_bytes(record),
        .kind = kind,
        .attribute = cache->settings.honour_attributes ? record->attribute & ATTRIBUTE_MASK
                                                       : ATTRIBUTE_WRITE_BACK,
        .processor = record->processor,
        .side = kind == REFERENCE_FETCH ? CACHE_INSTRUCTION : CACHE_DATA,
        .bytes = bytes};
    if (kind == REFERENCE_WRITE)
        cache->writes++;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        bytes[i] = kind == REFERENCE_WRITE ? cache->writes : 0;
    reference.owns = cache->settings.coherence != CACHE_INCOHERENT &&
                     !cache->settings.plain_readinv && record->type == REQUEST_MEMREADINV &&
                     reference.attribute == ATTRIBUTE_WRITE_BACK;
    if (reference.attribute == ATTRIBUTE_UNCACHEABLE)
        uncached(cache, record, &reference);
    else
        slow_refer(cache, 0, &reference);
    if (cache->watch)
        slow_check(cache);
}

void slow_cache_put(struct slow_cache *cache, const struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(cache, records + i);
}

/* Whether one line of a set is written back before another. */
static bool before(const struct slow_store *store, const struct slow_line *a,
                   const struct slow_line *b)
{
    switch (store->settings.replacement) {
    case CACHE_LRU:
        return a->used < b->used;
    case CACHE_FIFO:
        return a->filled < b->filled;
    default:
        return a > b;
    }
}

static void flush_set(struct slow_cache *cache, struct slow_store *store, uint64_t set)
{
    struct slow_line *lines = store->lines + set * store->settings.ways;
    for (;;) {
        struct slow_line *next = NULL;
        for (uint32_t way = 0; way < store->settings.ways; way++) {
            struct slow_line *line = lines + way;
            if (line->there && line->dirty && (!next || before(store, line, next)))
                next = line;
        }
        if (!next)
            return;
        slow_write_runs(cache, store, next);
    }
}

static void flush(struct slow_cache *cache, struct slow_store *store)
{
    for (uint64_t set = store->sets; set-- > 0;)
        flush_set(cache, store, set);
    for (uint32_t i = 0; i < store->victim_count; i++)
        slow_write_runs(cache, store, store->victims + i);
}

static void flush_all(struct slow_cache *cache)
{
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++)
            flush(cache, cache->rows[level].stores[at]);
    slow_check_memory(cache);
}

void slow_cache_end(struct slow_cache *cache)
{
    if (!cache->settings.no_flush)
        flush_all(cache);
    slow_prefetcher_end(cache);
    slow_optimum_end(cache);
}

bool slow_cache_has_processor(const struct slow_cache *cache, uint8_t processor)
{
    return cache->processors[processor];
}

struct cache_counters slow_cache_cache_counters(const struct slow_cache *cache, unsigned level,
                                                uint8_t processor, enum cache_side side)
{
    const struct cache_level *settings = &cache->settings.levels[level];
    const struct slow_row *row = &cache->rows[level];
    for (unsigned at = 0; at < row->count; at++)
        if (row->stores[at]->processor == (settings->shared ? 0 : processor) &&
            row->stores[at]->side == (settings->split ? side : CACHE_INSTRUCTION))
            return row->stores[at]->counters;
    return (struct cache_counters){.split = 0};
}

void slow_cache_counters(const struct slow_cache *cache, struct hierarchy_counters *counters)
{
    *counters = cache->counters;
}

void slow_cache_lines(const struct slow_cache *cache, struct cache_line_counters **lines,
                      size_t *count)
{
    *count = cache->lines.count;
    *lines = slow_memory(*count, sizeof **lines);
    if (*count > 0)
        memcpy(*lines, cache->lines.values, *count * sizeof **lines);
}
