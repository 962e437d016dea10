#include "tools/cache/model/line_store.h"

#include "formats/base/power.h"
#include "tools/cache/model/line_index.h"
#include "tools/cache/model/optimum.h"
#include "tools/cache/model/replacement.h"

#include <stdlib.h>
#include <string.h>

static bool in_order(const struct line_store *store)
{
    return store->policy == CACHE_LRU || store->policy == CACHE_FIFO;
}

int line_store_make(struct line_store *store, const struct cache_settings *settings, uint64_t seed,
                    uint64_t cache)
{
    size_t lines = (size_t)(settings->size / settings->line);
    bool parts = settings->sub_block != 0 && settings->sub_block != settings->line;
    *store = (struct line_store){.line_shift = power_log2(settings->line),
                                 .ways = settings->ways,
                                 .policy = settings->replacement};
    uint32_t sets = (uint32_t)(lines / settings->ways);
    store->set_index = set_index_make(sets, settings->hash == CACHE_HASH_XOR);
    store->masked = set_index_is_mask(&store->set_index);
    store->set_mask = sets - 1;
    store->entries = calloc(lines, sizeof *store->entries);
    if (parts)
        store->masks = calloc(lines, sizeof *store->masks);
    if (!in_order(store))
        store->replacement = replacement_new(store->policy, sets, store->ways, seed, cache);
    if (store->ways > LINE_WAYS_SEARCHED)
        store->index = line_index_new(sets, store->ways, in_order(store));
    if (!store->entries || (parts && !store->masks) || (!in_order(store) && !store->replacement) ||
        (store->ways > LINE_WAYS_SEARCHED && !store->index)) {
        line_store_clear(store);
        return -1;
    }
    return 0;
}

int line_store_make_narrow(struct line_store *store, const struct cache_settings *settings)
{
    const size_t lines = (size_t)(settings->size / settings->line);
    const uint32_t sets = (uint32_t)(lines / settings->ways);
    *store = (struct line_store){.line_shift = power_log2(settings->line),
                                 .set_mask = sets - 1,
                                 .masked = true,
                                 .set_index = set_index_make(sets, false),
                                 .ways = settings->ways,
                                 .policy = CACHE_LRU,
                                 .narrow_stride = settings->ways};
    store->narrow = calloc(lines, sizeof *store->narrow);
    return store->narrow ? 0 : -1;
}

void line_store_clear(struct line_store *store)
{
    free(store->entries);
    if (!store->narrow_shared)
        free(store->narrow);
    free(store->masks);
    replacement_free(store->replacement);
    line_index_free(store->index);
    *store = (struct line_store){.ways = 0};
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

size_t line_store_use(struct line_store *store, size_t slot)
{
    if (store->replacement)
        replacement_use(store->replacement, slot);
    if (store->policy != CACHE_LRU)
        return slot;
    if (store->index) {
        line_index_first(store->index, slot);
        return slot;
    }
    size_t first = slot - slot % store->ways;
    if (slot == first)
        return slot;
    if (store->narrow) {
        narrow_raise(line_store_narrow_slot(store, first), store->ways, (uint32_t)(slot - first),
                     *line_store_narrow_slot(store, slot));
        return first;
    }
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
    return first + replacement_victim(store->replacement, set);
}

/* The same for sets with an index. */
static size_t choose_indexed(struct line_store *store, uint32_t set)
{
    size_t slot = line_index_empty(store->index, set, store->entries);
    if (slot != LINE_NONE)
        return slot;
    return store->replacement
               ? (size_t)set * store->ways + replacement_victim(store->replacement, set)
               : line_index_last(store->index, set);
}

size_t line_store_allocate(struct line_store *store, uint32_t address, struct cache_line *replaced)
{
    uint32_t set = line_store_set(store, address);
    size_t slot;
    if (store->narrow) {
        slot = (size_t)set * store->ways;
        *replaced = line_store_get(store, slot + store->ways - 1);
        narrow_raise(line_store_narrow_set(store, set), store->ways, store->ways - 1,
                     (uint32_t)(entry_of(store, address) >> 32) | NARROW_VALID);
        return slot;
    }
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
    }
    if (store->replacement)
        replacement_fill(store->replacement, slot, (uint32_t)(entry_of(store, address) >> 32));
    store->entries[slot] = entry_of(store, address);
    if (store->masks)
        store->masks[slot] = (struct line_masks){.valid = 0, .dirty = 0, .touched = 0};
    return slot;
}

void line_store_remove(struct line_store *store, size_t slot)
{
    if (store->optimum)
        optimum_lose(store->optimum, (uint32_t)(line_store_entry(store, slot) >> 32));
    if (store->narrow) {
        const uint32_t way = (uint32_t)(slot % store->ways);
        narrow_remove(line_store_narrow_slot(store, slot - way), store->ways, way);
        return;
    }
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
        if (line_store_entry(store, slot) != 0)
            return slot;
    return LINE_NONE;
}
