#include "tools/mrc/simulated.h"

#include "tools/cache/model/line_store.h"
#include "tools/cache/model/replacement.h"
#include "tools/mrc/mrc_study.h"
#include "tools/mrc/sample.h"

#include <stdlib.h>

struct simulated {
    struct simulated_settings settings;
    struct simulated_sizes sizes;
    unsigned line_shift, groups;
    struct line_store **stores;         /* [size * caches + cache]; NULL: no reference so far */
    uint64_t *misses[MRC_SERIES_MAX];   /* NULL: no reference so far */
    struct reference_origin origin;     /* of the reference being simulated */
    uint64_t by_instruction, by_region; /* fills of SHiP, which are not reported */
};

struct simulated *simulated_new(const struct simulated_settings *settings,
                                const struct simulated_sizes *sizes, struct bt_error *error)
{
    struct simulated *simulated = calloc(1, sizeof *simulated);
    if (simulated)
        simulated->stores =
            calloc((size_t)sizes->count * settings->caches + 1, sizeof *simulated->stores);
    if (!simulated || !simulated->stores) {
        free(simulated);
        bt_fail(error, BT_MEMORY, "no memory for simulated caches");
        return NULL;
    }
    simulated->settings = *settings;
    simulated->sizes = *sizes;
    simulated->line_shift = (unsigned)__builtin_ctz(settings->line_bytes);
    simulated->groups = settings->sampled ? SAMPLE_GROUPS : 1;
    return simulated;
}

void simulated_free(struct simulated *simulated)
{
    if (!simulated)
        return;
    for (size_t i = 0; i < (size_t)simulated->sizes.count * simulated->settings.caches; i++)
        if (simulated->stores[i]) {
            line_store_clear(simulated->stores[i]);
            free(simulated->stores[i]);
        }
    for (unsigned i = 0; i < MRC_SERIES_MAX; i++)
        free(simulated->misses[i]);
    free(simulated->stores);
    free(simulated);
}

/* The cache's number in a hierarchy of one level, from which `bustap cache` derives its random
 * numbers. */
static uint64_t seed_number(const struct simulated *simulated, uint32_t cache)
{
    return simulated->settings.paired ? cache : (uint64_t)cache * CACHE_SIDES;
}

/* Makes a cache at its first reference. NULL without memory. */
static struct line_store *make_store(struct simulated *simulated, unsigned size, uint32_t cache)
{
    const struct simulated_settings *settings = &simulated->settings;
    const uint32_t ways = simulated->sizes.followed[size];
    const struct cache_settings wanted = {.size = (uint64_t)settings->line_bytes * settings->sets *
                                                  ways,
                                          .line = settings->line_bytes,
                                          .ways = ways,
                                          .replacement = settings->replacement};
    struct line_store *store = calloc(1, sizeof *store);
    if (!store || line_store_make(store, &wanted, 0, seed_number(simulated, cache)) < 0) {
        free(store);
        return NULL;
    }
    if (store->replacement)
        replacement_connect(store->replacement, &simulated->origin, &simulated->by_instruction,
                            &simulated->by_region);
    return store;
}

/* Whether the line at address misses; it is in the cache afterwards. */
static bool misses(struct line_store *store, uint32_t address)
{
    struct cache_line replaced;
    const size_t slot = line_store_find(store, address);
    if (slot != LINE_NONE) {
        line_store_use(store, slot);
        return false;
    }
    line_store_allocate(store, address, &replaced);
    return true;
}

/* Simulates a run in the caches of one size: what they need stays in the processor's caches. */
static int run_size(struct simulated *simulated, unsigned size, const struct bank_run *run,
                    const uint16_t *series_of, struct bt_error *error)
{
    struct line_store **stores = simulated->stores + (size_t)size * simulated->settings.caches;
    for (size_t i = 0; i < run->count; i++) {
        const uint32_t cache = simulated->settings.caches > 1 ? run->caches[i] : 0;
        const uint32_t line = run->lines[i];
        if (!stores[cache])
            stores[cache] = make_store(simulated, size, cache);
        if (!stores[cache])
            return bt_fail(error, BT_MEMORY, "no memory for a cache of %u ways",
                           simulated->sizes.followed[size]);
        simulated->origin = (struct reference_origin){.known = run->numbers[i] >> 32 != 0,
                                                      .instruction = (uint32_t)run->numbers[i]};
        if (misses(stores[cache], line << simulated->line_shift)) {
            const unsigned group = simulated->groups > 1 ? sample_group(line) : 0;
            simulated->misses[series_of[i]][size * simulated->groups + group]++;
        }
    }
    return 0;
}

int simulated_run(struct simulated *simulated, const struct bank_run *run,
                  const uint16_t *series_of, struct bt_error *error)
{
    const size_t counts = (size_t)simulated->sizes.count * simulated->groups;
    for (size_t i = 0; i < run->count; i++) {
        uint64_t **misses_of = &simulated->misses[series_of[i]];
        if (!*misses_of)
            *misses_of = calloc(counts + 1, sizeof **misses_of);
        if (!*misses_of)
            return bt_fail(error, BT_MEMORY, "no memory for the counts of a curve");
    }
    int result = 0;
    for (unsigned size = 0; size < simulated->sizes.count && result == 0; size++)
        result = run_size(simulated, size, run, series_of, error);
    return result;
}

unsigned simulated_groups(const struct simulated *simulated)
{
    return simulated->groups;
}

const uint64_t *simulated_misses(const struct simulated *simulated, unsigned series)
{
    return simulated->misses[series];
}
