#include "tests/support/slow_internal.h"

#include <stdlib.h>
#include <string.h>

struct slow_store *slow_store_new(const struct hierarchy_settings *settings, unsigned level,
                                  uint8_t processor, enum cache_side side)
{
    struct slow_store *store = slow_memory(1, sizeof *store);
    store->level = level;
    store->processor = processor;
    store->side = side;
    store->settings = settings->levels[level].sides[side];
    if (store->settings.sub_block == 0)
        store->settings.sub_block = store->settings.line;
    if (store->settings.ways == 0)
        store->settings.ways = (uint32_t)(store->settings.size / store->settings.line);
    uint64_t count = store->settings.size / store->settings.line;
    store->sets = count / store->settings.ways;
    store->lines = slow_memory(count, sizeof *store->lines);
    store->full = slow_memory(count, sizeof *store->full);
    slow_replacement_make(store, settings->seed);
    store->victims = slow_memory(store->settings.victim_lines, sizeof *store->victims);
    store->losses.value_bytes = sizeof(struct slow_loss);
    store->prefetcher.pending.value_bytes = sizeof(struct slow_pending);
    store->seen.value_bytes = sizeof(uint64_t);
    return store;
}

void slow_store_free(struct slow_store *store)
{
    if (!store)
        return;
    slow_store_free(store->own);
    for (uint64_t i = 0; i < store->sets * store->settings.ways; i++)
        free(store->lines[i].bytes);
    for (uint32_t i = 0; i < store->victim_count; i++)
        free(store->victims[i].bytes);
    free(store->lines);
    free(store->full);
    free(store->events);
    slow_map_clear(&store->prefetcher.pending);
    free(store->tree);
    free(store->random);
    free(store->victims);
    slow_map_clear(&store->losses);
    slow_map_clear(&store->seen);
    free(store);
}

uint64_t slow_number(const struct slow_store *store, uint64_t address)
{
    return address / store->settings.line;
}

uint64_t slow_sub_blocks(const struct slow_store *store, uint64_t address, uint64_t size)
{
    uint64_t offset = address % store->settings.line;
    uint64_t mask = 0;
    for (uint64_t i = 0; i < store->settings.line / store->settings.sub_block; i++) {
        uint64_t from = i * store->settings.sub_block;
        uint64_t to = from + store->settings.sub_block;
        if (from < offset + size && offset < to)
            mask |= (uint64_t)1 << i;
    }
    return mask;
}

static struct slow_line *set_of(const struct slow_store *store, uint64_t number)
{
    return store->lines + slow_set(store, number) * store->settings.ways;
}

struct slow_line *slow_find(const struct slow_store *store, uint64_t number)
{
    struct slow_line *set = set_of(store, number);
    for (uint32_t way = 0; way < store->settings.ways; way++)
        if (set[way].there && set[way].number == number)
            return set + way;
    return NULL;
}

void slow_use(struct slow_store *store, struct slow_line *line)
{
    line->used = ++store->clock;
    slow_replacement_use(store, line);
}

struct slow_line slow_take(struct slow_line *line)
{
    struct slow_line taken = *line;
    memset(line, 0, sizeof *line);
    return taken;
}

struct slow_line *slow_place(struct slow_store *store, uint64_t number, struct slow_line *old)
{
    struct slow_line *line =
        set_of(store, number) + slow_replacement_choose(store, slow_set(store, number));
    *old = slow_take(line);
    line->there = true;
    line->number = number;
    line->filled = ++store->clock;
    line->bytes = slow_memory(store->settings.line, sizeof *line->bytes);
    for (uint32_t i = 0; i < store->settings.line; i++)
        line->bytes[i] = SLOW_UNKNOWN;
    line->used = ++store->clock;
    slow_replacement_fill(store, line);
    slow_came(store, number);
    return line;
}

void slow_victim_take(struct slow_store *store, uint64_t number, struct slow_line *line)
{
    memset(line, 0, sizeof *line);
    for (uint32_t i = 0; i < store->victim_count; i++) {
        if (store->victims[i].number != number)
            continue;
        *line = store->victims[i];
        store->victim_count--;
        memmove(store->victims + i, store->victims + i + 1,
                (store->victim_count - i) * sizeof *store->victims);
        return;
    }
}

void slow_victim_put(struct slow_store *store, struct slow_line *line)
{
    struct slow_line dropped = {.there = false};
    if (store->victim_count == store->settings.victim_lines)
        slow_victim_take(store, store->victims[0].number, &dropped);
    store->victims[store->victim_count++] = *line;
    *line = dropped;
}
