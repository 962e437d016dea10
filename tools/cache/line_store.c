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
    return (uint64_t)(address >> store->line_shift << store->line_shift) << 32 | ENTRY_VALID;
}

size_t line_store_find_indexed(const struct line_store *store, uint32_t address)
{
    return line_index_find(store->index, (uint32_t)(entry_of(store, address) >> 32),
                           store->entries);
}

/* Moves the entries [first, slot) up by one; the first entry keeps its old contents. */
static void shift(struct line_store *store, size_t first, size_t slot)
{
    for (size_t i = slot; i > first; i--)
        store->entries[i] = store->entries[i - 1];
    if (store->masks)
        memmove(store->masks + first + 1, store->masks + first,
                (slot - first) * sizeof *store->masks);
}

/* Points all nodes on the path to a way at the other half. Node 1 is the root; the children of n
 * are 2n and 2n + 1. */
static void plru_use(struct line_store *store, size_t slot)
{
    uint64_t *nodes = &store->set_states[slot / store->ways];
    uint32_t way = (uint32_t)(slot % store->ways);
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

size_t line_store_use(struct line_store *store, size_t slot)
{
    if (store->replacement == CACHE_PLRU)
        plru_use(store, slot);
    if (store->replacement != CACHE_LRU)
        return slot;
    if (store->index) {
        line_index_first(store->index, slot);
        return slot;
    }
    size_t first = slot - slot % store->ways;
    if (slot == first)
        return slot;
    uint64_t entry = store->entries[slot];
    struct line_masks masks = store->masks
                                  ? store->masks[slot]
                                  : (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
    shift(store, first, slot);
    store->entries[first] = entry;
    if (store->masks)
        store->masks[first] = masks;
    return first;
}

/* The lowest empty way of a set, else the victim; for sets without an index. */
static size_t choose_way(struct line_store *store, uint32_t set)
{
    size_t first = (size_t)set * store->ways;
    for (size_t slot = first; slot < first + store->ways; slot++)
        if (store->entries[slot] == 0)
            return slot;
    return first + (store->replacement == CACHE_PLRU
                        ? plru_victim(store->set_states[set], store->ways)
                        : random_victim(&store->set_states[set], store->ways));
}

/* The same for sets with an index. */
static size_t choose_indexed(struct line_store *store, uint32_t set)
{
    size_t slot = line_index_empty(store->index, set, store->entries);
    if (slot != LINE_NONE)
        return slot;
    slot = store->replacement == CACHE_RANDOM
               ? (size_t)set * store->ways + random_victim(&store->set_states[set], store->ways)
               : line_index_last(store->index, set);
    return slot;
}

size_t line_store_allocate(struct line_store *store, uint32_t address, struct cache_line *replaced)
{
    uint32_t set = set_of(store, address);
    size_t slot;
    if (store->index) {
        slot = choose_indexed(store, set);
        *replaced = line_store_get(store, slot);
        if (replaced->valid)
            line_index_remove(store->index, slot, replaced->address);
        line_index_add(store->index, slot, (uint32_t)(entry_of(store, address) >> 32));
    } else if (in_order(store)) {
        slot = (size_t)set * store->ways;
        *replaced = line_store_get(store, slot + store->ways - 1);
        shift(store, slot, slot + store->ways - 1);
    } else {
        slot = choose_way(store, set);
        *replaced = line_store_get(store, slot);
        if (store->replacement == CACHE_PLRU)
            plru_use(store, slot);
    }
    store->entries[slot] = entry_of(store, address);
    if (store->masks)
        store->masks[slot] = (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
    return slot;
}

void line_store_remove(struct line_store *store, size_t slot)
{
    if (store->index) {
        line_index_remove(store->index, slot, (uint32_t)(store->entries[slot] >> 32));
        line_index_emptied(store->index, slot);
    }
    size_t last = slot;
    if (!store->index && in_order(store)) {
        last = slot - slot % store->ways + store->ways - 1;
        memmove(store->entries + slot, store->entries + slot + 1,
                (last - slot) * sizeof *store->entries);
        if (store->masks)
            memmove(store->masks + slot, store->masks + slot + 1,
                    (last - slot) * sizeof *store->masks);
    }
    store->entries[last] = 0;
    if (store->masks)
        store->masks[last] = (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
}

size_t line_store_next(const struct line_store *store, uint32_t set, size_t slot)
{
    size_t first = (size_t)set * store->ways;
    if (store->index && in_order(store))
        return slot == LINE_NONE ? line_index_last(store->index, set)
                                 : line_index_before(store->index, slot);
    if (slot == LINE_NONE)
        slot = first + store->ways;
    while (slot-- > first)
        if (store->entries[slot] != 0)
            return slot;
    return LINE_NONE;
}
