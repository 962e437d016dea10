#include "tests/support/slow_internal.h"

#include <stdlib.h>
#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u

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
    store->tree = slow_memory(store->sets, sizeof *store->tree);
    store->random = slow_memory(store->sets, sizeof *store->random);
    uint64_t number = ((uint64_t)level * 256 + processor) * 2 + side;
    for (uint64_t set = 0; set < store->sets; set++)
        store->random[set] = settings->seed + GOLDEN * (1 + set + (number << 32));
    store->victims = slow_memory(store->settings.victim_lines, sizeof *store->victims);
    store->losses.value_bytes = sizeof(struct slow_loss);
    store->seen.value_bytes = sizeof(uint64_t);
    return store;
}

void slow_store_free(struct slow_store *store)
{
    if (!store)
        return;
    for (uint64_t i = 0; i < store->sets * store->settings.ways; i++)
        free(store->lines[i].bytes);
    for (uint32_t i = 0; i < store->victim_count; i++)
        free(store->victims[i].bytes);
    free(store->lines);
    free(store->full);
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
    return store->lines + number % store->sets * store->settings.ways;
}

struct slow_line *slow_find(const struct slow_store *store, uint64_t number)
{
    struct slow_line *set = set_of(store, number);
    for (uint32_t way = 0; way < store->settings.ways; way++)
        if (set[way].there && set[way].number == number)
            return set + way;
    return NULL;
}

/* Points all nodes on the path to a way to the other half. */
static void tree_use(uint64_t *tree, uint32_t ways, uint32_t way)
{
    uint32_t node = 1;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool upper = (way & half) != 0;
        *tree = upper ? *tree & ~((uint64_t)1 << node) : *tree | (uint64_t)1 << node;
        node = node * 2 + upper;
    }
}

static uint32_t tree_victim(uint64_t tree, uint32_t ways)
{
    uint32_t node = 1;
    uint32_t way = 0;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool upper = tree >> node & 1;
        way |= upper ? half : 0;
        node = node * 2 + upper;
    }
    return way;
}

static uint64_t random_draw(uint64_t *state)
{
    *state += GOLDEN;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void slow_use(struct slow_store *store, struct slow_line *line)
{
    uint64_t set = line->number % store->sets;
    uint32_t way = (uint32_t)(line - set_of(store, line->number));
    line->used = ++store->clock;
    if (store->settings.replacement == CACHE_PLRU)
        tree_use(store->tree + set, store->settings.ways, way);
}

static uint32_t oldest(const struct slow_line *set, uint32_t ways, bool by_filling)
{
    uint32_t found = 0;
    for (uint32_t way = 1; way < ways; way++)
        if (by_filling ? set[way].filled < set[found].filled : set[way].used < set[found].used)
            found = way;
    return found;
}

static uint32_t choose(struct slow_store *store, uint64_t number)
{
    const struct slow_line *set = set_of(store, number);
    uint64_t at = number % store->sets;
    uint32_t ways = store->settings.ways;
    for (uint32_t way = 0; way < ways; way++)
        if (!set[way].there)
            return way;
    switch (store->settings.replacement) {
    case CACHE_FIFO:
        return oldest(set, ways, true);
    case CACHE_RANDOM:
        return (uint32_t)(((random_draw(store->random + at) >> 32) * ways) >> 32);
    case CACHE_PLRU:
        return tree_victim(store->tree[at], ways);
    default:
        return oldest(set, ways, false);
    }
}

struct slow_line slow_take(struct slow_line *line)
{
    struct slow_line taken = *line;
    memset(line, 0, sizeof *line);
    return taken;
}

struct slow_line *slow_place(struct slow_store *store, uint64_t number, struct slow_line *old)
{
    struct slow_line *line = set_of(store, number) + choose(store, number);
    *old = slow_take(line);
    line->there = true;
    line->number = number;
    line->filled = ++store->clock;
    line->bytes = slow_memory(store->settings.line, sizeof *line->bytes);
    for (uint32_t i = 0; i < store->settings.line; i++)
        line->bytes[i] = SLOW_UNKNOWN;
    slow_use(store, line);
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
