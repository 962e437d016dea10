#include "tools/cache/line_store.h"

#include "formats/base/power.h"
#include "tools/cache/line_index.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u

static bool in_order(const struct line_store *store)
{
    return store->replacement == CACHE_LRU || store->replacement == CACHE_FIFO;
}

static void seed_sets(struct line_store *store, uint64_t seed, uint64_t cache)
{
    for (uint64_t set = 0; set < line_store_sets(store); set++)
        store->set_states[set] = seed + GOLDEN * (1 + set + (cache << 32));
}

int line_store_make(struct line_store *store, const struct cache_settings *settings, uint64_t seed,
                    uint64_t cache)
{
    size_t lines = (size_t)(settings->size / settings->line);
    bool parts = settings->sub_block != 0 && settings->sub_block != settings->line;
    *store = (struct line_store){.line_shift = power_log2(settings->line),
                                 .set_mask = (uint32_t)(lines / settings->ways) - 1,
                                 .ways = settings->ways,
                                 .replacement = settings->replacement};
    store->entries = calloc(lines, sizeof *store->entries);
    if (parts)
        store->masks = calloc(lines, sizeof *store->masks);
    if (!in_order(store))
        store->set_states = calloc(line_store_sets(store), sizeof *store->set_states);
    if (store->ways > LINE_WAYS_SEARCHED)
        store->index = line_index_new(line_store_sets(store), store->ways, in_order(store));
    if (!store->entries || (parts && !store->masks) || (!in_order(store) && !store->set_states) ||
        (store->ways > LINE_WAYS_SEARCHED && !store->index)) {
        line_store_clear(store);
        return -1;
    }
    if (store->replacement == CACHE_RANDOM)
        seed_sets(store, seed, cache);
    return 0;
}

void line_store_clear(struct line_store *store)
{
    free(store->entries);
    free(store->masks);
    free(store->set_states);
    line_index_free(store->index);
    *store = (struct line_store){.ways = 0};
}

static uint32_t set_of(const struct line_store *store, uint32_t address)
{
    return (address >> store->line_shift) & store->set_mask;
}

static uint64_t entry_of(const struct line_store *store, uint32_t address)
{
    return (uint64_t)(address >> store->line_shift << store->line_shift) << 32 | ENTRY_THERE;
}

size_t line_store_find_indexed(const struct line_store *store, uint32_t address)
{
    return line_index_find(store->index, (uint32_t)(entry_of(store, address) >> 32),
                           store->entries);
}

/* Moves the entries [first, place) one further and leaves the first as it was. */
static void shift(struct line_store *store, size_t first, size_t place)
{
    for (size_t i = place; i > first; i--)
        store->entries[i] = store->entries[i - 1];
    if (store->masks)
        memmove(store->masks + first + 1, store->masks + first,
                (place - first) * sizeof *store->masks);
}

/* Turns all nodes on the way to a way to the other half. Node 1 is the root, n's are 2n, 2n + 1. */
static void plru_use(struct line_store *store, size_t place)
{
    uint64_t *nodes = &store->set_states[place / store->ways];
    uint32_t way = (uint32_t)(place % store->ways);
    uint32_t node = 1;
    for (uint32_t half = store->ways >> 1; half > 0; half >>= 1) {
        bool upper = (way & half) != 0;
        *nodes = upper ? *nodes & ~(1ull << node) : *nodes | 1ull << node;
        node = 2 * node + upper;
    }
}

static uint32_t plru_victim(uint64_t nodes, uint32_t ways)
{
    uint32_t node = 1;
    while (node < ways)
        node = 2 * node + (uint32_t)(nodes >> node & 1);
    return node - ways;
}

static uint32_t random_victim(uint64_t *state, uint32_t ways)
{
    *state += GOLDEN;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (uint32_t)((z >> 32) * ways >> 32);
}

size_t line_store_use(struct line_store *store, size_t place)
{
    if (store->replacement == CACHE_PLRU)
        plru_use(store, place);
    if (store->replacement != CACHE_LRU)
        return place;
    if (store->index) {
        line_index_first(store->index, place);
        return place;
    }
    size_t first = place - place % store->ways;
    if (place == first)
        return place;
    uint64_t entry = store->entries[place];
    struct line_masks masks = store->masks
                                  ? store->masks[place]
                                  : (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
    shift(store, first, place);
    store->entries[first] = entry;
    if (store->masks)
        store->masks[first] = masks;
    return first;
}

/* The lowest empty way of a set without an index, else the one that is to be replaced. */
static size_t choose_way(struct line_store *store, uint32_t set)
{
    size_t first = (size_t)set * store->ways;
    for (size_t place = first; place < first + store->ways; place++)
        if (store->entries[place] == 0)
            return place;
    return first + (store->replacement == CACHE_PLRU
                        ? plru_victim(store->set_states[set], store->ways)
                        : random_victim(&store->set_states[set], store->ways));
}

/* The same with an index, which forgets what is replaced. */
static size_t choose_indexed(struct line_store *store, uint32_t set)
{
    size_t place = line_index_empty(store->index, set, store->entries);
    if (place != LINE_NONE)
        return place;
    place = store->replacement == CACHE_RANDOM
                ? (size_t)set * store->ways + random_victim(&store->set_states[set], store->ways)
                : line_index_last(store->index, set);
    return place;
}

size_t line_store_place(struct line_store *store, uint32_t address, struct cache_line *replaced)
{
    uint32_t set = set_of(store, address);
    size_t place;
    if (store->index) {
        place = choose_indexed(store, set);
        *replaced = line_store_get(store, place);
        if (replaced->valid)
            line_index_remove(store->index, place, replaced->address);
        line_index_add(store->index, place, (uint32_t)(entry_of(store, address) >> 32));
    } else if (in_order(store)) {
        place = (size_t)set * store->ways;
        *replaced = line_store_get(store, place + store->ways - 1);
        shift(store, place, place + store->ways - 1);
    } else {
        place = choose_way(store, set);
        *replaced = line_store_get(store, place);
        if (store->replacement == CACHE_PLRU)
            plru_use(store, place);
    }
    store->entries[place] = entry_of(store, address);
    if (store->masks)
        store->masks[place] = (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
    return place;
}

void line_store_remove(struct line_store *store, size_t place)
{
    if (store->index) {
        line_index_remove(store->index, place, (uint32_t)(store->entries[place] >> 32));
        line_index_emptied(store->index, place);
    }
    size_t last = place;
    if (!store->index && in_order(store)) {
        last = place - place % store->ways + store->ways - 1;
        memmove(store->entries + place, store->entries + place + 1,
                (last - place) * sizeof *store->entries);
        if (store->masks)
            memmove(store->masks + place, store->masks + place + 1,
                    (last - place) * sizeof *store->masks);
    }
    store->entries[last] = 0;
    if (store->masks)
        store->masks[last] = (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
}

size_t line_store_next(const struct line_store *store, uint32_t set, size_t place)
{
    size_t first = (size_t)set * store->ways;
    if (store->index && in_order(store))
        return place == LINE_NONE ? line_index_last(store->index, set)
                                  : line_index_before(store->index, place);
    if (place == LINE_NONE)
        place = first + store->ways;
    while (place-- > first)
        if (store->entries[place] != 0)
            return place;
    return LINE_NONE;
}
