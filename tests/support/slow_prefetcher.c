/* doc/cache-model.md, "Prefetchers", sentence by sentence. */
#include "tests/support/slow_internal.h"

static bool has(const struct slow_store *store)
{
    return store->settings.prefetcher != CACHE_NO_PREFETCHER;
}

bool slow_prefetcher_demand(struct slow_store *store, const struct slow_reference *part, bool miss)
{
    uint64_t number = slow_number(store, part->address);
    if (!has(store) || part->prefetch)
        return false;
    store->prefetcher.time++;
    struct slow_pending *pending = slow_map_find(&store->prefetcher.pending, number);
    if (!pending || !pending->there)
        return miss;
    pending->there = false;
    if (miss)
        store->counters.prefetch_useless++;
    else if (store->prefetcher.time <= pending->time + store->settings.prefetch_latency)
        store->counters.prefetch_late++;
    else
        store->counters.prefetch_covered++;
    return true;
}

bool slow_prefetcher_issue(struct slow_store *store, const struct slow_reference *part,
                           uint64_t address)
{
    uint64_t page = store->settings.prefetch_page;
    uint64_t number = slow_number(store, address);
    if (page != 0 && address / page != part->address / page)
        return false;
    if (number == slow_number(store, part->address) || slow_find(store, number))
        return false;
    struct slow_pending *pending = slow_map_at(&store->prefetcher.pending, number);
    store->counters.prefetch_useless += pending->there;
    *pending = (struct slow_pending){.there = true, .time = store->prefetcher.time};
    return true;
}

static unsigned steps(const struct slow_store *store, const struct slow_reference *part,
                      int64_t step, uint64_t *addresses)
{
    unsigned count = 0;
    for (; count < store->settings.prefetch_degree; count++) {
        int64_t away = step * (int64_t)(store->settings.prefetch_distance + count);
        addresses[count] = (uint32_t)((int64_t)part->address + away);
    }
    return count;
}

static unsigned stride(struct slow_store *store, const struct slow_reference *part,
                       uint64_t *addresses)
{
    bool by_instruction = store->origin->known && part->kind != REFERENCE_FETCH;
    uint64_t key = by_instruction ? store->origin->instruction : part->address / 4096;
    unsigned at = (uint32_t)(key * 0x9e3779b1u) / 16777216;
    if (!store->prefetcher.strides[at].there || store->prefetcher.strides[at].key != key) {
        store->prefetcher.strides[at].there = true;
        store->prefetcher.strides[at].key = key;
        store->prefetcher.strides[at].last = (int64_t)part->address;
        store->prefetcher.strides[at].step = 0;
        store->prefetcher.strides[at].confidence = 0;
        return 0;
    }
    int64_t *kept = &store->prefetcher.strides[at].step;
    int *confidence = &store->prefetcher.strides[at].confidence;
    int64_t step = (int32_t)((int64_t)part->address - store->prefetcher.strides[at].last);
    store->prefetcher.strides[at].last = (int64_t)part->address;
    if (step == 0)
        return 0;
    if (step == *kept)
        *confidence = *confidence == 3 ? 3 : *confidence + 1;
    else if (*confidence > 0)
        --*confidence;
    else
        *kept = step;
    if (*confidence < 2)
        return 0;
    int64_t line = store->settings.line;
    step = *kept < 0 ? (*kept > -line ? -line : *kept) : (*kept < line ? line : *kept);
    return steps(store, part, step, addresses);
}

static unsigned stream(struct slow_store *store, const struct slow_reference *part,
                       uint64_t *addresses)
{
    int64_t line = (int64_t)slow_number(store, part->address);
    unsigned at = 16;
    for (unsigned i = 16; i-- > 0;) {
        int64_t away = line - store->prefetcher.streams[i].last;
        if (store->prefetcher.streams[i].there && away >= -16 && away <= 16)
            at = i;
    }
    if (at == 16) {
        at = 0;
        for (unsigned i = 1; i < 16; i++)
            if (store->prefetcher.streams[i].used < store->prefetcher.streams[at].used)
                at = i;
        store->prefetcher.streams[at].there = true;
        store->prefetcher.streams[at].last = line;
        store->prefetcher.streams[at].direction = store->prefetcher.streams[at].count = 0;
    }
    store->prefetcher.streams[at].used = store->prefetcher.time;
    if (line == store->prefetcher.streams[at].last)
        return 0;
    int64_t direction = line > store->prefetcher.streams[at].last ? 1 : -1;
    if (direction != store->prefetcher.streams[at].direction)
        store->prefetcher.streams[at].count = 0;
    store->prefetcher.streams[at].count++;
    store->prefetcher.streams[at].direction = direction;
    store->prefetcher.streams[at].last = line;
    if (store->prefetcher.streams[at].count < 2)
        return 0;
    return steps(store, part, direction * store->settings.line, addresses);
}

static unsigned followed_at(uint64_t line)
{
    return (uint32_t)(line * 0x9e3779b1u) / 1048576;
}

static void follow(struct slow_prefetcher *prefetcher, uint64_t line, uint64_t follower)
{
    unsigned at = followed_at(line);
    uint64_t *followers = prefetcher->followed[at].followers;
    uint64_t kept[4];
    uint64_t count = 0;
    if (!prefetcher->followed[at].there || prefetcher->followed[at].line != line)
        prefetcher->followed[at].count = 0;
    prefetcher->followed[at].there = true;
    prefetcher->followed[at].line = line;
    kept[count++] = follower;
    for (uint64_t i = 0; i < prefetcher->followed[at].count && count < 4; i++)
        if (followers[i] != follower)
            kept[count++] = followers[i];
    for (uint64_t i = 0; i < count; i++)
        followers[i] = kept[i];
    prefetcher->followed[at].count = count;
}

static unsigned markov(struct slow_store *store, const struct slow_reference *part,
                       uint64_t *addresses)
{
    struct slow_prefetcher *prefetcher = &store->prefetcher;
    uint64_t line = slow_number(store, part->address);
    unsigned at = followed_at(line);
    unsigned count = 0;
    if (prefetcher->has_last)
        follow(prefetcher, prefetcher->last, line);
    prefetcher->has_last = true;
    prefetcher->last = line;
    if (!prefetcher->followed[at].there || prefetcher->followed[at].line != line)
        return 0;
    for (; count < prefetcher->followed[at].count && count < store->settings.prefetch_degree;
         count++)
        addresses[count] = prefetcher->followed[at].followers[count] * store->settings.line;
    return count;
}

unsigned slow_prefetcher_train(struct slow_store *store, const struct slow_reference *part,
                               bool fresh, uint64_t addresses[64])
{
    if (!has(store) || part->prefetch || part->kind == REFERENCE_WRITE)
        return 0;
    switch (store->settings.prefetcher) {
    case CACHE_STRIDE:
        return stride(store, part, addresses);
    case CACHE_NEXT_LINE:
        return fresh ? steps(store, part, store->settings.line, addresses) : 0;
    case CACHE_STREAM:
        return fresh ? stream(store, part, addresses) : 0;
    default:
        return fresh ? markov(store, part, addresses) : 0;
    }
}

void slow_prefetcher_end(struct slow_cache *cache)
{
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++) {
            struct slow_store *store = cache->rows[level].stores[at];
            const struct slow_map *map = &store->prefetcher.pending;
            for (size_t i = 0; i < map->count; i++) {
                struct slow_pending *pending =
                    slow_map_find(&store->prefetcher.pending, map->keys[i]);
                store->counters.prefetch_useless +=
                    pending->there && !slow_find(store, map->keys[i]);
            }
        }
}
