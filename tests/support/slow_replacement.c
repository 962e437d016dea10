/* doc/cache-model.md, "Sets" and "Replacement", sentence by sentence. */
#include "tests/support/slow_internal.h"

#define GOLDEN 0x9e3779b97f4a7c15u

uint64_t slow_set(const struct slow_store *store, uint64_t number)
{
    if (store->settings.hash == CACHE_HASH_NONE || store->sets == 1)
        return number % store->sets;
    unsigned bits = 0;
    while (((uint64_t)1 << bits) < store->sets)
        bits++;
    uint64_t folded = 0;
    for (unsigned shift = 0; shift < 32; shift += bits)
        folded ^= number >> shift;
    return folded % store->sets;
}

void slow_replacement_make(struct slow_store *store, uint64_t seed)
{
    uint64_t number = ((uint64_t)store->level * 256 + store->processor) * 2 + store->side;
    store->tree = slow_memory(store->sets * store->settings.ways, sizeof *store->tree);
    store->random = slow_memory(store->sets, sizeof *store->random);
    for (uint64_t set = 0; set < store->sets; set++)
        store->random[set] = seed + GOLDEN * (1 + set + (number << 32));
    store->selector = 512;
    for (unsigned i = 0; i < 16384; i++)
        store->outcomes[i] = 1;
}

uint64_t slow_random(uint64_t *state)
{
    *state += GOLDEN;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t draw(struct slow_store *store, uint64_t set)
{
    return slow_random(store->random + set);
}

/* Points all nodes on the path to a way to the other half. */
static void tree_use(bool *tree, uint32_t ways, uint32_t way)
{
    uint32_t node = 1;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool upper = (way & half) != 0;
        tree[node] = !upper;
        node = node * 2 + upper;
    }
}

static uint32_t tree_victim(const bool *tree, uint32_t ways)
{
    uint32_t node = 1;
    uint32_t way = 0;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool upper = tree[node];
        way |= upper ? half : 0;
        node = node * 2 + upper;
    }
    return way;
}

static void tree_note(struct slow_store *store, const struct slow_line *line)
{
    uint64_t at = (uint64_t)(line - store->lines);
    uint32_t ways = store->settings.ways;
    tree_use(store->tree + at / ways * ways, ways, (uint32_t)(at % ways));
}

static unsigned signature(const struct slow_store *store, uint64_t address)
{
    uint64_t key = store->origin->known ? store->origin->instruction : address / 16384;
    return (unsigned)((uint32_t)(key * 0x9e3779b1u) / 262144);
}

void slow_replacement_use(struct slow_store *store, struct slow_line *line)
{
    switch (store->settings.replacement) {
    case CACHE_PLRU:
        tree_note(store, line);
        break;
    case CACHE_LFU:
        line->count += line->count < 16777215;
        break;
    case CACHE_SHIP:
        line->reused = true;
        if (store->outcomes[line->signature] < 7)
            store->outcomes[line->signature]++;
        line->age = 0;
        break;
    default:
        line->age = 0;
    }
}

static unsigned brrip_age(struct slow_store *store, uint64_t set)
{
    return draw(store, set) >> 59 == 0 ? 2 : 3;
}

static unsigned drrip_age(struct slow_store *store, uint64_t set)
{
    uint64_t period = store->sets < 32 ? store->sets : store->sets < 1024 ? 32 : store->sets / 32;
    if (store->sets < 4)
        return 2;
    bool srrip = set % period == 0;
    bool brrip = set % period == period / 2;
    if (srrip && store->selector < 1023)
        store->selector++;
    if (brrip && store->selector > 0)
        store->selector--;
    if (!srrip && !brrip)
        brrip = store->selector > 512;
    return brrip ? brrip_age(store, set) : 2;
}

void slow_replacement_fill(struct slow_store *store, struct slow_line *line)
{
    uint64_t set = slow_set(store, line->number);
    switch (store->settings.replacement) {
    case CACHE_PLRU:
        tree_note(store, line);
        break;
    case CACHE_SRRIP:
        line->age = 2;
        break;
    case CACHE_BRRIP:
        line->age = brrip_age(store, set);
        break;
    case CACHE_DRRIP:
        line->age = drrip_age(store, set);
        break;
    case CACHE_SHIP:
        line->signature = signature(store, line->number * store->settings.line);
        line->age = store->outcomes[line->signature] == 0 ? 3 : 2;
        if (store->origin->known)
            store->counters.signed_by_instruction++;
        else
            store->counters.signed_by_region++;
        break;
    case CACHE_LFU:
        line->count = 1;
        break;
    default:
        line->age = 0;
    }
}

static uint32_t oldest(const struct slow_line *set, uint32_t ways, bool by_filling)
{
    uint32_t found = 0;
    for (uint32_t way = 1; way < ways; way++)
        if (by_filling ? set[way].filled < set[found].filled : set[way].used < set[found].used)
            found = way;
    return found;
}

static uint32_t rarest(const struct slow_line *set, uint32_t ways)
{
    uint32_t found = 0;
    for (uint32_t way = 1; way < ways; way++)
        if (set[way].count < set[found].count ||
            (set[way].count == set[found].count && set[way].used < set[found].used))
            found = way;
    return found;
}

/* The lowest way of the highest age; all age until there is one. */
static uint32_t aged(struct slow_line *set, uint32_t ways, unsigned highest)
{
    for (;;) {
        for (uint32_t way = 0; way < ways; way++)
            if (set[way].age == highest)
                return way;
        for (uint32_t way = 0; way < ways; way++)
            set[way].age++;
    }
}

uint32_t slow_replacement_choose(struct slow_store *store, uint64_t set)
{
    uint32_t ways = store->settings.ways;
    struct slow_line *lines = store->lines + set * ways;
    for (uint32_t way = 0; way < ways; way++)
        if (!lines[way].there)
            return way;
    uint32_t way;
    switch (store->settings.replacement) {
    case CACHE_LRU:
        return oldest(lines, ways, false);
    case CACHE_FIFO:
        return oldest(lines, ways, true);
    case CACHE_RANDOM:
        return (uint32_t)(((draw(store, set) >> 32) * ways) >> 32);
    case CACHE_PLRU:
        return tree_victim(store->tree + set * ways, ways);
    case CACHE_NRU:
        return aged(lines, ways, 1);
    case CACHE_LFU:
        return rarest(lines, ways);
    case CACHE_SHIP:
        way = aged(lines, ways, 3);
        if (!lines[way].reused && store->outcomes[lines[way].signature] > 0)
            store->outcomes[lines[way].signature]--;
        return way;
    default:
        return aged(lines, ways, 3);
    }
}
