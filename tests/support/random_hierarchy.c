#include "tests/support/random_hierarchy.h"

#include "tests/support/random.h"

#include <string.h>

/* Probability of an option: 1 / rarity. */
struct taste {
    uint64_t rarity;
    bool coherent;
    unsigned private_levels;
    uint32_t line;
};

static void random_size(uint64_t *state, struct cache_settings *cache)
{
    static const uint32_t odd[] = {3, 5, 6, 7, 12};
    uint32_t ways = (uint32_t)1 << random_below(state, 4);
    if (cache->replacement != CACHE_PLRU && random_one_in(state, 4))
        ways = odd[random_below(state, sizeof odd / sizeof *odd)];
    if (cache->replacement == CACHE_PLRU && random_one_in(state, 16))
        ways = 128;
    if (cache->replacement != CACHE_PLRU && random_one_in(state, 16))
        ways = 60 + (uint32_t)random_below(state, 30); /* sets of more than 64 ways have an index */
    uint64_t sets = (uint64_t)1 << random_below(state, ways < 60 ? 4 : 2);
    if (random_one_in(state, 6))
        sets = 1 + random_below(state, 12);
    if (ways <= 2 && random_one_in(state, 2))
        sets = 64 + random_below(state, 200); /* enough for a sample */
    if (random_one_in(state, 12))
        cache->hash = CACHE_HASH_XOR;
    cache->size = sets * ways * cache->line;
    cache->ways = sets == 1 && random_one_in(state, 2) ? 0 : ways;
}

static void random_cache(uint64_t *state, const struct taste *taste, unsigned level,
                         struct cache_settings *cache)
{
    bool agent = taste->coherent && level + 1 == taste->private_levels;
    bool coherent = taste->coherent && level < taste->private_levels;
    memset(cache, 0, sizeof *cache);
    cache->line = taste->line;
    if (!coherent && random_one_in(state, taste->rarity))
        cache->line <<= random_below(state, 2);
    if (!coherent && random_one_in(state, taste->rarity) && cache->line > 1)
        cache->sub_block = cache->line >> random_below(state, 4);
    if (random_one_in(state, taste->rarity) || random_one_in(state, 2))
        cache->replacement = (enum cache_replacement)random_below(state, CACHE_REPLACEMENTS);
    if (random_one_in(state, taste->rarity))
        cache->prefetch = (enum cache_prefetch)random_below(state, 4);
    cache->write_through = !agent && random_one_in(state, taste->rarity);
    cache->no_write_allocate = !agent && random_one_in(state, taste->rarity);
    if (!coherent && random_one_in(state, taste->rarity))
        cache->victim_lines = (uint32_t)random_below(state, 4);
    if (cache->victim_lines == 0 && cache->sub_block == 0 && random_one_in(state, 6)) {
        cache->prefetch = CACHE_NO_PREFETCH;
        cache->prefetcher = (enum cache_prefetcher)(1 + random_below(state, 4));
        cache->prefetch_degree = 1 + (uint32_t)random_below(state, 4);
        cache->prefetch_distance = 1 + (uint32_t)random_below(state, 3);
        cache->prefetch_page = random_one_in(state, 2) ? 0 : 16u << random_below(state, 9);
        cache->prefetch_latency = (uint32_t)random_below(state, 8);
    }
    random_size(state, cache);
}

static void random_inclusion(uint64_t *state, const struct taste *taste,
                             struct hierarchy_settings *settings)
{
    for (unsigned level = 1; level < settings->level_count; level++) {
        bool must = taste->coherent && taste->private_levels == 2 && level == 1;
        if (must)
            settings->levels[level].inclusion = CACHE_INCLUSIVE;
        else if (random_one_in(state, taste->rarity))
            settings->levels[level].inclusion =
                (enum cache_inclusion)random_below(state, taste->coherent ? 2 : 3);
    }
}

/* Removes most impossible combinations, so that most hierarchies are possible. */
static void make_possible(struct hierarchy_settings *settings)
{
    for (unsigned level = 1; level < settings->level_count; level++) {
        if (settings->levels[level].inclusion == CACHE_NEITHER)
            continue;
        for (unsigned above = 0; above <= level; above++)
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                struct cache_settings *cache = &settings->levels[above].sides[side];
                cache->victim_lines = 0;
                if (settings->levels[level].inclusion == CACHE_EXCLUSIVE && above + 1 >= level)
                    cache->sub_block = 0;
                if (above == level) {
                    cache->sub_block = 0;
                    if (settings->levels[level].inclusion == CACHE_EXCLUSIVE) {
                        cache->prefetch = CACHE_NO_PREFETCH;
                        cache->prefetcher = CACHE_NO_PREFETCHER;
                    }
                }
            }
    }
}

void random_hierarchy(uint64_t *state, struct hierarchy_settings *settings)
{
    static const uint64_t rarities[] = {2, 4, 12, 1000};
    struct taste taste = {.rarity = rarities[random_below(state, 4)],
                          .coherent = random_one_in(state, 3),
                          .line = (uint32_t)1 << random_below(state, 8)};
    memset(settings, 0, sizeof *settings);
    settings->level_count = 1 + (unsigned)random_below(state, CACHE_LEVELS);
    taste.private_levels = (unsigned)random_below(state, settings->level_count + 1);
    if (taste.coherent)
        taste.private_levels = settings->level_count > 1 ? 1 + (unsigned)random_below(state, 2) : 1;
    unsigned splits = (unsigned)random_below(state, settings->level_count + 1);
    for (unsigned level = 0; level < settings->level_count; level++) {
        settings->levels[level].shared = level >= taste.private_levels;
        if (taste.coherent && level >= taste.private_levels && !random_one_in(state, 16))
            splits = splits < level ? splits : level;
        settings->levels[level].split = level < splits;
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            random_cache(state, &taste, level, &settings->levels[level].sides[side]);
    }
    random_inclusion(state, &taste, settings);
    if (!random_one_in(state, 16))
        make_possible(settings);
    if (taste.coherent)
        settings->coherence = (enum cache_coherence)random_below(state, CACHE_PROTOCOLS);
    settings->automatic_coherence = taste.coherent && settings->coherence == CACHE_INCOHERENT;
    settings->plain_readinv = random_one_in(state, 4);
    settings->honour_attributes = random_one_in(state, taste.rarity);
    settings->classify = random_one_in(state, 2);
    settings->optimum = random_one_in(state, 6);
    settings->optimum_sample = !settings->optimum && random_one_in(state, 2);
    settings->no_flush = random_one_in(state, 8);
    settings->seed = random_next(state);
}

static uint8_t random_type(uint64_t *state)
{
    static const uint8_t types[] = {
        REQUEST_FETCH,    REQUEST_FETCH,    REQUEST_MEMREAD,  REQUEST_MEMREAD, REQUEST_MEMREADINV,
        REQUEST_MEMWRITE, REQUEST_MEMWRITE, REQUEST_MEMWRITE, REQUEST_MEMREAD, REQUEST_MEMWRITE};
    if (random_one_in(state, 40))
        return (uint8_t)random_below(state, 256);
    return types[random_below(state, sizeof types)];
}

static uint8_t random_size_of(uint64_t *state, uint32_t line)
{
    static const uint8_t usual[] = {0, 1, 2, 4, 4, 8, 8, 16, 32};
    if (random_one_in(state, 8))
        return (uint8_t)random_below(state, 256);
    if (random_one_in(state, 6) && line < 256)
        return (uint8_t)line;
    return usual[random_below(state, sizeof usual)];
}

void random_references(uint64_t *state, const struct hierarchy_settings *settings,
                       struct record *records, size_t count)
{
    static const uint32_t bases[] = {0, 0xffffff80u, 0xfffff000u, 0x7fffffe0u, 0x12345678u};
    uint32_t line = settings->levels[0].sides[0].line;
    uint32_t base = bases[random_below(state, 5)];
    uint64_t range = (uint64_t)line << (1 + random_below(state, 8));
    uint64_t processors = random_one_in(state, 3) ? 1 : 1 + random_below(state, 6);
    uint8_t first = random_one_in(state, 4) ? 250 : 0;
    bool plain = random_one_in(state, 2);
    for (size_t i = 0; i < count; i++) {
        struct record *record = records + i;
        memset(record, 0, sizeof *record);
        record->address = base + (uint32_t)random_below(state, range);
        record->type = random_type(state);
        record->size = random_size_of(state, line);
        if (record->size == line && random_one_in(state, 2))
            record->address -= record->address % line;
        record->attribute = plain || !random_one_in(state, 4) ? 7 : (uint8_t)random_next(state);
        if (plain && random_one_in(state, 8))
            record->attribute = (uint8_t)(1 + random_below(state, 2)); /* none is uncacheable */
        record->processor = (uint8_t)(first + random_below(state, processors));
    }
}
