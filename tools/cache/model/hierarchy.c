#include "tools/cache/model/hierarchy.h"

#include "formats/base/power.h"
#include "tools/cache/model/agents_internal.h"
#include "tools/cache/model/optimum.h"
#include "tools/cache/model/requests_internal.h"

#include <stdlib.h>
#include <string.h>

static void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    line_store_clear(&cache->lines);
    victim_free(cache->victim);
    classifier_free(cache->classifier);
    optimum_free(cache->optimum);
    prefetcher_free(cache->prefetcher);
    free(cache);
}

static bool is_above(const struct hierarchy_settings *settings, unsigned level,
                     enum cache_inclusion inclusion)
{
    for (unsigned below = level + 1; below < settings->level_count; below++)
        if (settings->levels[below].inclusion == inclusion)
            return true;
    return false;
}

unsigned hierarchy_agent_level(const struct hierarchy_settings *settings)
{
    unsigned level = 0;
    while (level + 1 < settings->level_count && !settings->levels[level + 1].shared)
        level++;
    return level;
}

int hierarchy_add_agent(struct hierarchy *hierarchy, struct cache *cache)
{
    unsigned i = hierarchy->agent_count++;
    cache->agent = true;
    while (i > 0 && hierarchy->agents[i - 1]->processor > cache->processor) {
        hierarchy->agents[i] = hierarchy->agents[i - 1];
        i--;
    }
    hierarchy->agents[i] = cache;
    return hierarchy->shape == SHAPE_AGENTS ? agents_join(hierarchy) : 0;
}

uint32_t hierarchy_sets(const struct cache_settings *cache)
{
    return cache->ways ? (uint32_t)(cache->size / cache->line / cache->ways) : 1;
}

bool hierarchy_has_own_kinds(const struct hierarchy_settings *settings, unsigned level,
                             enum cache_side side)
{
    const struct cache_level *kind = &settings->levels[level];
    const struct cache_settings *cache = &kind->sides[kind->split ? side : 0];
    return settings->classify && kind->inclusion != CACHE_EXCLUSIVE &&
           cache->replacement != CACHE_LRU &&
           (cache->replacement != CACHE_PLRU || power_is(cache->size / cache->line));
}

bool hierarchy_samples_optimum(const struct hierarchy_settings *settings, unsigned level,
                               enum cache_side side)
{
    const struct cache_level *kind = &settings->levels[level];
    return settings->optimum_sample && !settings->optimum &&
           hierarchy_sets(&kind->sides[kind->split ? side : 0]) >= CACHE_SAMPLE_GROUPS;
}

static struct cache *cache_new(struct hierarchy *hierarchy, unsigned level, unsigned processor,
                               enum cache_side side)
{
    const struct cache_level *kind = &hierarchy->settings.levels[level];
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->hierarchy = hierarchy;
    cache->settings = &kind->sides[side];
    cache->level = level;
    cache->processor = processor;
    cache->side = side;
    cache->inclusion = kind->inclusion;
    cache->sub_block = cache->settings->sub_block;
    cache->early_write_backs = is_above(&hierarchy->settings, level, CACHE_INCLUSIVE);
    cache->always_fills =
        cache->early_write_backs || is_above(&hierarchy->settings, level, CACHE_EXCLUSIVE);
    cache->plain = hierarchy_is_plain(&hierarchy->settings, level, side);
    uint64_t number = ((uint64_t)level * CACHE_PROCESSORS + processor) * CACHE_SIDES + side;
    bool good = (hierarchy_is_narrow(&hierarchy->settings, level, side)
                     ? line_store_make_narrow(&cache->lines, cache->settings)
                     : line_store_make(&cache->lines, cache->settings, hierarchy->settings.seed,
                                       number)) == 0;
    if (good && cache->lines.replacement)
        replacement_connect(cache->lines.replacement, &hierarchy->origin,
                            &cache->counters.signed_by_instruction,
                            &cache->counters.signed_by_region);
    if (cache->settings->victim_lines > 0) {
        cache->victim = victim_new(cache->settings->victim_lines);
        good = good && cache->victim;
    }
    if (hierarchy->settings.classify && kind->inclusion != CACHE_EXCLUSIVE) {
        cache->classifier = classifier_new(cache, number);
        good = good && cache->classifier;
    }
    if (cache->settings->prefetcher != CACHE_NO_PREFETCHER) {
        cache->prefetcher = prefetcher_new(cache);
        good = good && cache->prefetcher;
    }
    if (good && (hierarchy->settings.optimum || hierarchy->settings.optimum_sample)) {
        bool bypass = cache->settings->no_write_allocate || hierarchy->settings.honour_attributes ||
                      kind->inclusion == CACHE_EXCLUSIVE;
        cache->optimum =
            optimum_new(&cache->lines.set_index, cache->lines.ways, cache->lines.line_shift, bypass,
                        hierarchy_samples_optimum(&hierarchy->settings, level, side));
        cache->lines.optimum = cache->optimum;
        good = cache->optimum;
    }
    if (!good) {
        cache_free(cache);
        return NULL;
    }
    return cache;
}

/* The cache of a level for a processor and a side. A missing cache is made, with all caches below
 * it. */
static struct cache *cache_at(struct hierarchy *hierarchy, unsigned level, unsigned processor,
                              enum cache_side side)
{
    const struct cache_level *kind = &hierarchy->settings.levels[level];
    if (kind->shared)
        processor = 0;
    if (!kind->split)
        side = CACHE_INSTRUCTION;
    struct cache *cache = hierarchy->caches[level][processor][side];
    struct cache *below = NULL;
    if (cache)
        return cache;
    if (level + 1 < hierarchy->settings.level_count) {
        below = cache_at(hierarchy, level + 1, processor, side);
        if (!below)
            return NULL;
    }
    cache = cache_new(hierarchy, level, processor, side);
    if (!cache)
        return NULL;
    hierarchy->caches[level][processor][side] = cache;
    cache->below = below;
    cache->made_before = hierarchy->last_made;
    hierarchy->last_made = cache;
    requests_prepare(cache);
    if (below) {
        struct cache **last = &below->above;
        while (*last)
            last = &(*last)->next;
        *last = cache;
    }
    if (hierarchy->settings.coherence != CACHE_INCOHERENT && level == hierarchy->agent_level &&
        hierarchy_add_agent(hierarchy, cache) < 0)
        return NULL;
    return cache;
}

/* Makes the caches of a processor at its first reference. */
static int meet_processor(struct hierarchy *hierarchy, unsigned id, struct bt_error *error)
{
    struct processor *processor = &hierarchy->processors[id];
    if (++hierarchy->processor_count == 2 && hierarchy->settings.automatic_coherence &&
        hierarchy_become_coherent(hierarchy) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for coherent caches");
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        processor->first[side] = cache_at(hierarchy, 0, id, (enum cache_side)side);
        if (!processor->first[side])
            return bt_fail(error, BT_MEMORY, "no memory for the caches of processor %u", id);
    }
    if (hierarchy->settings.coherence != CACHE_INCOHERENT)
        processor->data_agent = cache_at(hierarchy, hierarchy->agent_level, id, CACHE_DATA);
    hierarchy->occurs[id] = true;
    return 0;
}

/* Sets ways and sub-blocks, and both sides of unified levels. */
static void complete(struct hierarchy_settings *settings)
{
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            struct cache_settings *cache = &settings->levels[level].sides[side];
            if (!settings->levels[level].split)
                *cache = settings->levels[level].sides[0];
            if (cache->ways == 0)
                cache->ways = (uint32_t)(cache->size / cache->line);
            if (cache->sub_block == 0)
                cache->sub_block = cache->line;
        }
}

bool hierarchy_is_quick(const struct hierarchy_settings *settings)
{
    struct hierarchy_settings completed = *settings;
    complete(&completed);
    const enum hierarchy_shape shape = hierarchy_shape_of(&completed);
    const bool counted =
        settings->optimum ||
        (settings->optimum_sample && !(hierarchy_samples_optimum(settings, 0, CACHE_INSTRUCTION) &&
                                       hierarchy_samples_optimum(settings, 0, CACHE_DATA)));
    return (shape == SHAPE_PLAIN || shape == SHAPE_NARROW) && !counted;
}

int hierarchy_new(struct hierarchy **hierarchy, const struct hierarchy_settings *settings,
                  struct bt_error *error)
{
    return hierarchy_new_part(hierarchy, settings, 0, 1, error);
}

int hierarchy_new_part(struct hierarchy **hierarchy, const struct hierarchy_settings *settings,
                       unsigned part, unsigned parts, struct bt_error *error)
{
    *hierarchy = NULL;
    int result = hierarchy_check(settings, error);
    if (result == 0 && parts > 1)
        result = hierarchy_check_parts(settings, error);
    if (result < 0)
        return result;
    struct hierarchy *made = calloc(1, sizeof *made);
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a hierarchy of caches");
    made->settings = *settings;
    made->lines.value_bytes = sizeof(struct cache_line_counters);
    made->part = part;
    made->parts = parts;
    if (parts > 1)
        hierarchy_classes(settings, &made->class_shift, &made->class_mask);
    made->agent_level = hierarchy_agent_level(settings);
    made->readinv_owns = settings->coherence != CACHE_INCOHERENT && !settings->plain_readinv;
    complete(&made->settings);
    made->shape = hierarchy_shape_of(&made->settings);
    if (settings->accesses) {
        made->accesses = line_accesses_new(
            &made->lines, power_log2(settings->levels[0].sides[0].line), LINE_ACCESSES_MAX);
        if (!made->accesses) {
            hierarchy_free(made);
            return bt_fail(error, BT_MEMORY, "no memory for the accesses of lines");
        }
    }
    *hierarchy = made;
    return 0;
}

void hierarchy_free(struct hierarchy *hierarchy)
{
    if (!hierarchy)
        return;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            for (unsigned side = 0; side < CACHE_SIDES; side++)
                cache_free(hierarchy->caches[level][processor][side]);
    agents_free(hierarchy);
    line_accesses_free(hierarchy->accesses);
    line_values_clear(&hierarchy->lines);
    free(hierarchy);
}

/* A processor's reference that lies within one line of level 1. */
static void refer_line(struct hierarchy *hierarchy, const struct processor *processor,
                       struct cache *cache, struct cache_reference *reference)
{
    reference->cause_address = reference->address;
    reference->cause_bytes = reference->bytes;
    bool owns = processor->data_agent && (reference->kind == REFERENCE_WRITE || reference->owns);
    if (owns)
        coherence_own(hierarchy, processor->data_agent, reference);
    cache_refer_part(cache, reference);
    if (!owns)
        return;
    hierarchy->writer = NULL;
    if (hierarchy->settings.classify)
        coherence_written(hierarchy, processor->data_agent, reference);
}

/* Counts an uncacheable reference. Returns whether caches have to be snooped for it. */
static bool take_uncached(struct hierarchy *hierarchy, const struct record *record,
                          enum reference_kind kind)
{
    bool combining = (record->attribute & ATTRIBUTE_BUS_MASK) == ATTRIBUTE_WRITE_COMBINING;
    bool mine = hierarchy_is_mine(hierarchy, record->address);
    hierarchy->counters.uncached[kind] += mine;
    hierarchy->counters.write_combining[kind] += mine && combining;
    return hierarchy->settings.coherence != CACHE_INCOHERENT && !combining;
}

/* Makes the parts of a record's reference; *part has its properties. */
static void refer_parts(struct hierarchy *hierarchy, const struct record *record,
                        struct cache_reference *part, bool uncached)
{
    const struct processor *processor = &hierarchy->processors[record->processor];
    struct cache *cache =
        processor->first[part->kind == REFERENCE_FETCH ? CACHE_INSTRUCTION : CACHE_DATA];
    uint32_t left = reference_bytes(record);
    uint32_t line = cache->settings->line;
    for (bool first = true; left > 0; first = false) {
        uint32_t room = line - (part->address & (line - 1));
        part->bytes = left < room ? left : room;
        if (hierarchy_is_mine(hierarchy, part->address)) {
            cache->counters.split += !first && !uncached;
            if (hierarchy->accesses)
                line_accesses_begin(hierarchy->accesses, part->address);
            if (uncached)
                coherence_uncached(hierarchy, record->processor, part);
            else
                refer_line(hierarchy, processor, cache, part);
            if (hierarchy->accesses &&
                line_accesses_end(hierarchy->accesses, record, part->address, part->bytes) < 0)
                hierarchy->no_memory = true;
        }
        left -= part->bytes;
        part->address += part->bytes;
    }
}

static void refer(struct hierarchy *hierarchy, const struct record *record,
                  enum reference_kind kind)
{
    struct cache_reference part = {.address = record->address, .kind = kind};
    unsigned attribute = hierarchy->settings.honour_attributes ? record->attribute & ATTRIBUTE_MASK
                                                               : ATTRIBUTE_WRITE_BACK;
    bool uncached = attribute == ATTRIBUTE_UNCACHEABLE;
    struct processor *processor = &hierarchy->processors[record->processor];
    if (kind == REFERENCE_FETCH)
        processor->origin =
            (struct reference_origin){.known = true, .instruction = record->address};
    hierarchy->origin = processor->origin;
    if (hierarchy->accesses)
        line_accesses_record(hierarchy->accesses, record);
    if (uncached && !take_uncached(hierarchy, record, kind))
        return;
    part.protected = kind == REFERENCE_WRITE && attribute == ATTRIBUTE_WRITE_PROTECT;
    part.through =
        part.protected || (kind == REFERENCE_WRITE && attribute == ATTRIBUTE_WRITE_THROUGH);
    part.owns = hierarchy->readinv_owns && record->type == REQUEST_MEMREADINV &&
                attribute == ATTRIBUTE_WRITE_BACK;
    refer_parts(hierarchy, record, &part, uncached);
}

static int out_of_memory(const struct hierarchy *hierarchy, struct bt_error *error)
{
    return hierarchy->no_memory
               ? bt_fail(error, BT_MEMORY, "no memory for the tables of the cache simulation")
               : 0;
}

void hierarchy_count_records(struct hierarchy *hierarchy, uint64_t count)
{
    hierarchy->counters.records += hierarchy->part == 0 ? count : 0;
}

void hierarchy_drop(struct hierarchy *hierarchy, const struct record *record)
{
    hierarchy->counters.dropped[request_type_ordinal(record->type)] += hierarchy->part == 0;
}

int hierarchy_put(struct hierarchy *hierarchy, const struct record *records, size_t count,
                  struct bt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const size_t quick = hierarchy_put_quickly(hierarchy, records + i, count - i);
        if (hierarchy->accesses && line_accesses_put(hierarchy->accesses, records + i, quick) < 0)
            hierarchy->no_memory = true;
        i += quick;
        if (i == count)
            break;
        const struct record *record = &records[i];
        enum reference_kind kind = reference_kind_of(record->type);
        if (kind == REFERENCE_NONE) {
            hierarchy_drop(hierarchy, record);
            continue;
        }
        requests_finish(hierarchy);
        if (!hierarchy->occurs[record->processor]) {
            int result = meet_processor(hierarchy, record->processor, error);
            if (result < 0)
                return result;
        }
        refer(hierarchy, record, kind);
    }
    requests_finish(hierarchy);
    requests_count(hierarchy);
    hierarchy_count_records(hierarchy, count);
    agents_count_events(hierarchy);
    return out_of_memory(hierarchy, error);
}

/* Sets the counters of a cache to zero. The optimum may miss lines that the cache has now. */
static void reset_counters(struct cache *cache)
{
    const struct optimum *optimum = cache->optimum;
    cache->counters = (struct cache_counters){.split = 0};
    if (cache->prefetcher)
        prefetcher_forget(cache);
    for (uint32_t set = 0; optimum && optimum->groups && set < line_store_sets(&cache->lines);
         set++)
        for (size_t slot = LINE_NONE;
             (slot = line_store_next(&cache->lines, set, slot)) != LINE_NONE;)
            cache->counters.sample_held[optimum->groups[set]]++;
}

void hierarchy_reset_counters(struct hierarchy *hierarchy)
{
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                struct cache *cache = hierarchy->caches[level][processor][side];
                if (cache)
                    reset_counters(cache);
            }
    hierarchy->counters = (struct hierarchy_counters){.records = 0};
    line_values_clear(&hierarchy->lines);
    if (hierarchy->accesses)
        line_accesses_reset(hierarchy->accesses);
}

const struct hierarchy_settings *hierarchy_settings_of(const struct hierarchy *hierarchy)
{
    return &hierarchy->settings;
}

/* Writes back the dirty lines of a cache; they become clean. */
static void flush(struct cache *cache)
{
    for (uint32_t set = line_store_sets(&cache->lines); set-- > 0;) {
        size_t slot = LINE_NONE;
        while ((slot = line_store_next(&cache->lines, set, slot)) != LINE_NONE) {
            struct cache_line line = line_store_get(&cache->lines, slot);
            if (line.dirty == 0)
                continue;
            struct cache_line clean = line;
            clean.dirty = 0;
            line_store_put(&cache->lines, slot, &clean);
            cache_write_back(cache, &line);
        }
    }
    struct cache_line *line;
    for (uint32_t n = 0; cache->victim && (line = victim_line(cache->victim, n)) != NULL; n++) {
        struct cache_line dirty = *line;
        line->dirty = 0;
        cache_write_back(cache, &dirty);
    }
}

int hierarchy_end(struct hierarchy *hierarchy, struct bt_error *error)
{
    for (unsigned level = 0; level < CACHE_LEVELS && !hierarchy->settings.no_flush; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            for (unsigned side = 0; side < CACHE_SIDES; side++)
                if (hierarchy->caches[level][processor][side])
                    flush(hierarchy->caches[level][processor][side]);
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                struct cache *cache = hierarchy->caches[level][processor][side];
                if (cache && cache->prefetcher)
                    prefetcher_end(cache);
            }
    return out_of_memory(hierarchy, error);
}

enum cache_coherence hierarchy_coherence(const struct hierarchy *hierarchy)
{
    return hierarchy->settings.coherence;
}

bool hierarchy_has_processor(const struct hierarchy *hierarchy, uint8_t processor)
{
    return hierarchy->occurs[processor];
}

struct cache_counters hierarchy_cache_counters(const struct hierarchy *hierarchy, unsigned level,
                                               uint8_t processor, enum cache_side side)
{
    static const struct cache_counters none;
    if (level >= hierarchy->settings.level_count)
        return none;
    const struct cache_level *kind = &hierarchy->settings.levels[level];
    const struct cache *cache =
        hierarchy->caches[level][kind->shared ? 0 : processor][kind->split ? side : 0];
    return cache ? cache->counters : none;
}

void hierarchy_misses(const struct hierarchy *hierarchy, uint8_t processor,
                      uint64_t misses[CACHE_LEVELS])
{
    for (unsigned level = 0; level < CACHE_LEVELS; level++) {
        const bool shared = hierarchy->settings.levels[level].shared;
        misses[level] = 0;
        if (level >= hierarchy->settings.level_count)
            continue;
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            const struct cache *cache = hierarchy->caches[level][shared ? 0 : processor][side];
            misses[level] += cache ? reference_kinds_sum(cache->counters.misses) : 0;
        }
    }
}

void hierarchy_counters(const struct hierarchy *hierarchy, struct hierarchy_counters *counters)
{
    *counters = hierarchy->counters;
}

struct cache_line_counters *hierarchy_line(struct hierarchy *hierarchy, uint32_t address)
{
    struct cache_line_counters *line = line_values_add(&hierarchy->lines, address);
    if (!line) {
        hierarchy->no_memory = true;
        return &hierarchy->no_line;
    }
    line->address = address;
    return line;
}

static int by_address(const void *a, const void *b)
{
    const struct cache_line_counters *one = a;
    const struct cache_line_counters *other = b;
    return (one->address > other->address) - (one->address < other->address);
}

int hierarchy_lines(const struct hierarchy *hierarchy, struct cache_line_counters **lines,
                    size_t *count, struct bt_error *error)
{
    const struct line_values *map = &hierarchy->lines;
    *count = map->count;
    *lines = calloc(map->count + 1, sizeof **lines);
    if (!*lines)
        return bt_fail(error, BT_MEMORY, "no memory for a list of lines");
    if (map->count > 0)
        memcpy(*lines, map->values, map->count * sizeof **lines);
    qsort(*lines, *count, sizeof **lines, by_address);
    return 0;
}

int hierarchy_accesses(const struct hierarchy *hierarchy, struct line_access **rows, size_t *count,
                       uint64_t *least, struct bt_error *error)
{
    *rows = NULL;
    *count = 0;
    *least = hierarchy->accesses ? line_accesses_least(hierarchy->accesses) : 1;
    return hierarchy->accesses ? line_accesses_take(hierarchy->accesses, rows, count, error) : 0;
}
