/* Kinds of misses: doc/cache-model.md, "Kinds of misses". */
#include "formats/base/power.h"
#include "tools/cache/model/hierarchy_internal.h"
#include "tools/cache/model/line_bits.h"

#include <stdlib.h>

#define UNITS_MAX 64u /* units of a line that false sharing is decided by */

struct classifier {
    unsigned sub_block_shift;
    struct line_bits seen;   /* the sub-blocks that were referenced */
    struct line_store whole; /* the fully associative LRU cache of the same size */
    struct line_store own;   /* the one of the cache's own policy; ways 0: none */
    uint64_t signed_by[2];   /* what SHiP signs by there, which is not reported */
    struct line_values
        lost; /* uint64_t: units that others have written since the line was invalidated */
};

static uint32_t sub_block_bytes(const struct cache_settings *settings)
{
    return settings->sub_block ? settings->sub_block : settings->line;
}

/* Makes the fully associative cache of the cache's own policy. 0, or -1 without memory. */
static int make_own(struct classifier *classifier, const struct cache *cache,
                    const struct cache_settings *settings, uint64_t number)
{
    struct hierarchy *hierarchy = cache->hierarchy;
    if (!hierarchy_has_own_kinds(&hierarchy->settings, cache->level, cache->side))
        return 0;
    if (line_store_make(&classifier->own, settings, hierarchy->settings.seed, number) < 0)
        return -1;
    if (classifier->own.replacement)
        replacement_connect(classifier->own.replacement, &hierarchy->origin,
                            &classifier->signed_by[0], &classifier->signed_by[1]);
    return 0;
}

struct classifier *classifier_new(const struct cache *cache, uint64_t number)
{
    const struct cache_settings *settings = cache->settings;
    struct cache_settings whole = *settings;
    whole.ways = (uint32_t)(settings->size / settings->line);
    struct classifier *classifier = calloc(1, sizeof *classifier);
    if (!classifier)
        return NULL;
    if (make_own(classifier, cache, &whole, number) < 0) {
        free(classifier);
        return NULL;
    }
    whole.replacement = CACHE_LRU;
    classifier->sub_block_shift = power_log2(sub_block_bytes(settings));
    classifier->lost.value_bytes = sizeof(uint64_t);
    if (line_bits_make(&classifier->seen, classifier->sub_block_shift) < 0 ||
        line_store_make(&classifier->whole, &whole, 0, 0) < 0) {
        classifier_free(classifier);
        return NULL;
    }
    return classifier;
}

void classifier_free(struct classifier *classifier)
{
    if (!classifier)
        return;
    line_bits_clear(&classifier->seen);
    line_store_clear(&classifier->whole);
    line_store_clear(&classifier->own);
    line_values_clear(&classifier->lost);
    free(classifier);
}

/* Marks the sub-blocks of a reference within one line. Returns whether all were marked already. */
static bool see(struct cache *cache, const struct cache_reference *reference)
{
    struct classifier *classifier = cache->classifier;
    uint32_t first = reference->address >> classifier->sub_block_shift;
    uint32_t last = (reference->address + reference->bytes - 1) >> classifier->sub_block_shift;
    bool all = true;
    for (uint32_t n = first; n <= last; n++) {
        const int before = line_bits_set(&classifier->seen, n);
        if (before < 0) {
            cache->hierarchy->no_memory = true;
            return true;
        }
        all = all && before;
        if (n == last) /* the last sub-block of the address space has no successor */
            break;
    }
    return all;
}

/* Makes the reference in a fully associative cache. Returns whether it hits. */
static bool refer_whole(const struct cache *cache, struct line_store *whole,
                        const struct cache_reference *reference, bool allocates)
{
    struct cache_line line = {.address = cache_line_address(cache, reference->address)};
    size_t slot = line_store_find(whole, reference->address);
    if (slot != LINE_NONE) {
        line = line_store_get(whole, slot);
        slot = line_store_use(whole, slot);
    } else if (allocates) {
        struct cache_line replaced;
        slot = line_store_allocate(whole, reference->address, &replaced);
    } else {
        return false;
    }
    uint32_t offset = reference->address - line.address;
    unsigned first = offset >> cache->classifier->sub_block_shift;
    unsigned last = (offset + reference->bytes - 1) >> cache->classifier->sub_block_shift;
    uint64_t touched = (~0ull >> (63 - (last - first))) << first;
    bool hit = (touched & ~line.valid) == 0;
    line.valid |= touched;
    line_store_put(whole, slot, &line);
    return hit;
}

/* Units of the line at `address` that the bytes from `start` on overlap. */
static uint64_t units_of(const struct cache *cache, uint32_t address, uint32_t start,
                         uint32_t bytes)
{
    uint32_t line = cache->settings->line;
    uint32_t unit = line > UNITS_MAX ? line / UNITS_MAX : 1;
    uint32_t offset = start - address;
    if (offset >= line) /* the bytes begin in an earlier line */
        return 0;
    uint32_t end = bytes > line - offset ? line : offset + bytes;
    unsigned first = offset / unit;
    unsigned last = (end - 1) / unit;
    return (~0ull >> (63 - (last - first))) << first;
}

static void count_sharing(struct cache *cache, const struct cache_reference *reference,
                          uint64_t written)
{
    uint32_t address = cache_line_address(cache, reference->address);
    bool meets =
        (units_of(cache, address, reference->cause_address, reference->cause_bytes) & written) != 0;
    uint64_t *counters = meets ? cache->counters.true_sharing : cache->counters.false_sharing;
    counters[reference->kind]++;
    if (!cache->agent)
        return;
    struct cache_line_counters *line = hierarchy_line(cache->hierarchy, address);
    if (meets)
        line->true_sharing++;
    else
        line->false_sharing++;
}

/* A miss that more ways, or more lines, would have avoided. */
static void count_size(struct cache *cache, enum reference_kind kind, bool whole_hit, bool own_hit)
{
    (whole_hit ? cache->counters.conflict : cache->counters.capacity)[kind]++;
    if (cache->classifier->own.ways)
        (own_hit ? cache->counters.own_conflict : cache->counters.own_capacity)[kind]++;
}

void classify_reference(struct cache *cache, const struct cache_reference *reference, bool hit)
{
    struct classifier *classifier = cache->classifier;
    uint32_t address = cache_line_address(cache, reference->address);
    bool allocates = reference->kind != REFERENCE_WRITE ||
                     (!reference->through && !cache->settings->no_write_allocate);
    bool whole_hit = refer_whole(cache, &classifier->whole, reference, allocates);
    bool seen = whole_hit || see(cache, reference); /* what is in there has been referenced */
    bool own_hit = classifier->own.ways ? refer_whole(cache, &classifier->own, reference, allocates)
                                        : whole_hit;
    if (hit)
        return;
    const uint64_t *lost = line_values_find(&classifier->lost, address);
    if (reference->prefetch)
        ;
    else if (lost)
        count_sharing(cache, reference, *lost);
    else if (!seen)
        cache->counters.compulsory[reference->kind]++;
    else
        count_size(cache, reference->kind, whole_hit, own_hit);
    if (lost && allocates)
        line_values_remove(&classifier->lost, address);
}

void classify_lost(struct cache *cache, uint32_t address)
{
    if (!line_values_add(&cache->classifier->lost, address))
        cache->hierarchy->no_memory = true;
}

void classify_written(struct cache *cache, const struct cache_reference *write)
{
    if (cache->classifier) {
        uint32_t address = cache_line_address(cache, write->address);
        uint64_t *lost = line_values_find(&cache->classifier->lost, address);
        if (lost)
            *lost |= units_of(cache, address, write->address, write->bytes);
    }
    for (struct cache *above = cache->above; above; above = above->next)
        classify_written(above, write);
}
