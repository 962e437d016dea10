#include "tools/cache/model/replacement.h"

#include "formats/base/suggestion.h"
#include "tools/cache/model/random_draw.h"
#include "tools/cache/model/way_classes.h"
#include "tools/cache/model/way_heap.h"

#include <stdlib.h>
#include <string.h>

#define RRIP_CLASSES    4u /* re-reference predictions of 2 bits */
#define RRIP_LONG       2u
#define RRIP_DISTANT    3u
#define NRU_CLASSES     2u
#define LEADERS         32u /* sets that lead with each policy of DRRIP, in a large cache */
#define DUEL_SETS_MIN   4u  /* of fewer sets none would follow */
#define SELECTOR_MAX    1023u
#define SELECTOR_MIDDLE 512u
#define OUTCOMES        16384u /* SHiP's counters */
#define OUTCOME_MAX     7u
#define REGION_SHIFT    14u /* SHiP's regions without instructions: 16 KiB */
#define REUSED          0x8000u
#define COUNT_SHIFT     40u /* LFU: of the count in a key, above the time of the last use */
#define COUNT_MAX       0xffffffu

const char *const replacement_names[CACHE_REPLACEMENTS + 1] = {
    "lru", "fifo", "random", "plru", "nru", "srrip", "brrip", "drrip", "ship", "lfu", NULL};

int replacement_find(enum cache_replacement *replacement, const char *name, struct bt_error *error)
{
    for (unsigned i = 0; i < CACHE_REPLACEMENTS; i++)
        if (strcmp(replacement_names[i], name) == 0) {
            *replacement = (enum cache_replacement)i;
            return 0;
        }
    bt_fail(error, BT_USAGE,
            "can be lru, fifo, random, plru, nru, srrip, brrip, drrip, ship or lfu, not '%.40s'",
            name);
    return suggestion_add(error, suggestion_among(name, replacement_names));
}

struct replacement {
    enum cache_replacement policy;
    uint32_t sets, ways;
    uint32_t tree_words;         /* of a set */
    uint64_t *trees;             /* plru: a bit for each node */
    uint64_t *generators;        /* by set: random, brrip, drrip */
    struct way_classes *classes; /* nru, srrip, brrip, drrip, ship */
    struct way_heap *counts;     /* lfu */
    uint64_t clock;              /* lfu: uses and fills so far */
    uint32_t selector;           /* drrip: above the middle, brrip misses less */
    uint8_t *outcomes;           /* ship: by signature */
    uint16_t *signatures;        /* ship: by slot, with REUSED */
    const struct reference_origin *origin;
    uint64_t *by_instruction, *by_region; /* ship: counters of fills, NULL without an origin */
};

/* --- plru: a tree --- */

/* Points all nodes on the path to a way at the other half. Node 1 is the root; the children of n
 * are 2n and 2n + 1. */
static void tree_use(struct replacement *replacement, size_t slot)
{
    uint64_t *nodes = replacement->trees + slot / replacement->ways * replacement->tree_words;
    uint32_t way = (uint32_t)(slot % replacement->ways);
    uint32_t node = 1;
    for (uint32_t half = replacement->ways >> 1; half > 0; half >>= 1) {
        bool upper = (way & half) != 0;
        uint64_t bit = 1ull << (node % 64);
        nodes[node / 64] = upper ? nodes[node / 64] & ~bit : nodes[node / 64] | bit;
        node = 2 * node + upper;
    }
}

static uint32_t tree_victim(const struct replacement *replacement, uint32_t set)
{
    const uint64_t *nodes = replacement->trees + (size_t)set * replacement->tree_words;
    uint32_t node = 1;
    while (node < replacement->ways)
        node = 2 * node + (uint32_t)(nodes[node / 64] >> (node % 64) & 1);
    return node - replacement->ways;
}

/* --- random numbers: splitmix64 --- */

static uint64_t draw(struct replacement *replacement, uint32_t set)
{
    return random_draw(&replacement->generators[set]);
}

/* --- rrip --- */

/* The prediction of brrip: long for one line in 32. */
static unsigned bimodal(struct replacement *replacement, uint32_t set)
{
    return draw(replacement, set) >> 59 == 0 ? RRIP_LONG : RRIP_DISTANT;
}

/* The prediction of drrip, whose leading sets count their misses. */
static unsigned duel(struct replacement *replacement, uint32_t set)
{
    const uint32_t sets = replacement->sets;
    uint32_t *selector = &replacement->selector;
    if (sets < DUEL_SETS_MIN)
        return RRIP_LONG;
    uint32_t period = sets / LEADERS;
    if (period < LEADERS) /* no more than one set in 16 leads */
        period = sets < LEADERS ? sets : LEADERS;
    if (set % period == 0) {
        *selector += *selector < SELECTOR_MAX;
        return RRIP_LONG;
    }
    if (set % period == period / 2) {
        *selector -= *selector > 0;
        return bimodal(replacement, set);
    }
    return *selector > SELECTOR_MIDDLE ? bimodal(replacement, set) : RRIP_LONG;
}

/* --- ship --- */

/* Signs a line, and predicts by what became of earlier lines with its signature. */
static unsigned sign(struct replacement *replacement, size_t slot, uint32_t address)
{
    bool known = replacement->origin && replacement->origin->known;
    uint32_t key = known ? replacement->origin->instruction : address >> REGION_SHIFT;
    uint16_t signature = (uint16_t)((key * 0x9e3779b1u) >> 18);
    if (replacement->origin)
        ++*(known ? replacement->by_instruction : replacement->by_region);
    replacement->signatures[slot] = signature;
    return replacement->outcomes[signature] == 0 ? RRIP_DISTANT : RRIP_LONG;
}

static void ship_use(struct replacement *replacement, size_t slot)
{
    uint8_t *outcome = &replacement->outcomes[replacement->signatures[slot] & (OUTCOMES - 1)];
    *outcome = (uint8_t)(*outcome + (*outcome < OUTCOME_MAX));
    replacement->signatures[slot] |= REUSED;
}

static void ship_evict(struct replacement *replacement, size_t slot)
{
    uint16_t signature = replacement->signatures[slot];
    if (signature & REUSED)
        return;
    uint8_t *outcome = &replacement->outcomes[signature];
    *outcome = (uint8_t)(*outcome - (*outcome > 0));
}

/* --- lfu --- */

static void count_use(struct replacement *replacement, size_t slot, bool first)
{
    uint64_t count = first ? 0 : way_heap_key(replacement->counts, slot) >> COUNT_SHIFT;
    count += count < COUNT_MAX;
    way_heap_put(replacement->counts, slot, count << COUNT_SHIFT | replacement->clock++);
}

/* --- all --- */

static bool make_state(struct replacement *made, uint32_t sets, uint32_t ways)
{
    switch (made->policy) {
    case CACHE_PLRU:
        made->tree_words = (ways + 63) / 64;
        made->trees = calloc((size_t)sets * made->tree_words, sizeof *made->trees);
        return made->trees;
    case CACHE_RANDOM:
        made->generators = calloc(sets, sizeof *made->generators);
        return made->generators;
    case CACHE_LFU:
        made->counts = way_heap_new(sets, ways);
        return made->counts;
    case CACHE_SHIP:
        made->outcomes = malloc(OUTCOMES);
        made->signatures = calloc((size_t)sets * ways, sizeof *made->signatures);
        for (unsigned i = 0; made->outcomes && i < OUTCOMES; i++)
            made->outcomes[i] = 1;
        made->classes = way_classes_new(sets, ways, RRIP_CLASSES);
        return made->outcomes && made->signatures && made->classes;
    default:
        made->generators = calloc(sets, sizeof *made->generators);
        made->classes =
            way_classes_new(sets, ways, made->policy == CACHE_NRU ? NRU_CLASSES : RRIP_CLASSES);
        return made->generators && made->classes;
    }
}

struct replacement *replacement_new(enum cache_replacement policy, uint32_t sets, uint32_t ways,
                                    uint64_t seed, uint64_t cache)
{
    struct replacement *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->policy = policy;
    made->sets = sets;
    made->ways = ways;
    made->selector = SELECTOR_MIDDLE;
    if (!make_state(made, sets, ways)) {
        replacement_free(made);
        return NULL;
    }
    for (uint64_t set = 0; made->generators && set < sets; set++)
        made->generators[set] = seed + RANDOM_DRAW_STEP * (1 + set + (cache << 32));
    return made;
}

void replacement_free(struct replacement *replacement)
{
    if (!replacement)
        return;
    free(replacement->trees);
    free(replacement->generators);
    way_classes_free(replacement->classes);
    way_heap_free(replacement->counts);
    free(replacement->outcomes);
    free(replacement->signatures);
    free(replacement);
}

void replacement_connect(struct replacement *replacement, const struct reference_origin *origin,
                         uint64_t *by_instruction, uint64_t *by_region)
{
    replacement->origin = origin;
    replacement->by_instruction = by_instruction;
    replacement->by_region = by_region;
}

void replacement_use(struct replacement *replacement, size_t slot)
{
    if (replacement->policy == CACHE_PLRU)
        tree_use(replacement, slot);
    else if (replacement->policy == CACHE_LFU)
        count_use(replacement, slot, false);
    else if (replacement->classes)
        way_classes_put(replacement->classes, slot, 0);
    if (replacement->policy == CACHE_SHIP)
        ship_use(replacement, slot);
}

uint32_t replacement_victim(struct replacement *replacement, uint32_t set)
{
    uint32_t ways = replacement->ways;
    if (replacement->policy == CACHE_PLRU)
        return tree_victim(replacement, set);
    if (replacement->policy == CACHE_RANDOM)
        return (uint32_t)((draw(replacement, set) >> 32) * ways >> 32);
    if (replacement->policy == CACHE_LFU)
        return way_heap_first(replacement->counts, set);
    uint32_t way = way_classes_oldest(replacement->classes, set);
    if (replacement->policy == CACHE_SHIP)
        ship_evict(replacement, (size_t)set * ways + way);
    return way;
}

void replacement_fill(struct replacement *replacement, size_t slot, uint32_t address)
{
    uint32_t set = (uint32_t)(slot / replacement->ways);
    unsigned prediction = 0;
    switch (replacement->policy) {
    case CACHE_PLRU:
        tree_use(replacement, slot);
        return;
    case CACHE_LFU:
        count_use(replacement, slot, true);
        return;
    case CACHE_NRU:
        break;
    case CACHE_SRRIP:
        prediction = RRIP_LONG;
        break;
    case CACHE_BRRIP:
        prediction = bimodal(replacement, set);
        break;
    case CACHE_DRRIP:
        prediction = duel(replacement, set);
        break;
    case CACHE_SHIP:
        prediction = sign(replacement, slot, address);
        break;
    default:
        return;
    }
    way_classes_put(replacement->classes, slot, prediction);
}
