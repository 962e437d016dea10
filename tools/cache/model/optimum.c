#include "tools/cache/model/optimum.h"

#include "tools/cache/model/random_draw.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64u
#define NO_SLOT   UINT32_MAX

/*
 * The references to a set, a slot each, in their order. Of each way, the last slot across which it
 * is given to a line is marked. A line whose last use is in slot n can be kept in any way whose
 * mark is not after n; taking the latest of them leaves the others for lines that were used longer
 * ago. Slots that are neither marked nor a last use are dropped when there is no room; the order of
 * the others is all that matters.
 */
struct optimum_set {
    uint32_t capacity; /* slots; a power of two, or 0 */
    uint32_t used;
    uint32_t idle;   /* ways that were never given */
    uint64_t *marks; /* by slot, a bit each */
    uint64_t *above; /* by 64 slots, a bit: there is a mark among them */
    uint64_t *live;  /* by slot, a bit: it is the last use of its line */
    uint32_t *lines; /* by slot: number of the line */
};

/* Deals the sets to groups of equal size, at random. */
static void deal_sets(struct optimum *optimum)
{
    uint64_t generator = 0;
    for (uint32_t set = 0; set < optimum->index.sets; set++)
        optimum->groups[set] = (uint8_t)(set % CACHE_SAMPLE_GROUPS);
    for (uint32_t set = optimum->index.sets; set-- > 1;) {
        const uint64_t other = random_draw(&generator) % (set + 1);
        const uint8_t group = optimum->groups[set];
        optimum->groups[set] = optimum->groups[other];
        optimum->groups[other] = group;
    }
}

struct optimum *optimum_new(const struct set_index *sets, uint32_t ways, unsigned line_shift,
                            bool bypass, bool sampled)
{
    struct optimum *optimum = calloc(1, sizeof *optimum);
    if (!optimum)
        return NULL;
    optimum->index = *sets;
    optimum->line_shift = line_shift;
    optimum->masked = set_index_is_mask(sets);
    optimum->bypass = bypass;
    optimum->ways = ways - !bypass;
    optimum->last = calloc(sets->sets, sizeof *optimum->last);
    if (optimum->ways > 0)
        optimum->sets = calloc(sets->sets, sizeof *optimum->sets);
    if (sampled)
        optimum->groups = calloc(sets->sets, sizeof *optimum->groups);
    if (!optimum->last || (optimum->ways > 0 && !optimum->sets) || (sampled && !optimum->groups)) {
        optimum_free(optimum);
        return NULL;
    }
    if (sampled)
        deal_sets(optimum);
    return optimum;
}

void optimum_free(struct optimum *optimum)
{
    if (!optimum)
        return;
    for (uint32_t set = 0; optimum->sets && set < optimum->index.sets; set++)
        free(optimum->sets[set].marks);
    line_slots_clear(&optimum->slots);
    free(optimum->sets);
    free(optimum->groups);
    free(optimum->last);
    free(optimum);
}

bool optimum_failed(const struct optimum *optimum)
{
    return optimum->failed;
}

/* --- bits --- */

static void set_bit(uint64_t *bits, uint32_t number)
{
    bits[number / 64] |= 1ull << (number % 64);
}

static void clear_bit(uint64_t *bits, uint32_t number)
{
    bits[number / 64] &= ~(1ull << (number % 64));
}

/* The last bit set up to a number, or NO_SLOT. */
static uint32_t last_bit(const uint64_t *bits, uint32_t number)
{
    uint32_t word = number / 64;
    uint64_t found = bits[word] & (~0ull >> (63 - number % 64));
    while (found == 0 && word > 0)
        found = bits[--word];
    return found ? word * 64 + 63 - (uint32_t)__builtin_clzll(found) : NO_SLOT;
}

static void mark(struct optimum_set *set, uint32_t slot)
{
    set_bit(set->marks, slot);
    set_bit(set->above, slot / 64);
}

static void unmark(struct optimum_set *set, uint32_t slot)
{
    clear_bit(set->marks, slot);
    if (set->marks[slot / 64] == 0)
        clear_bit(set->above, slot / 64);
}

/* The last marked slot up to one, or NO_SLOT. */
static uint32_t last_mark(const struct optimum_set *set, uint32_t slot)
{
    const uint32_t word = slot / 64;
    const uint64_t near = set->marks[word] & (~0ull >> (63 - slot % 64));
    if (near)
        return word * 64 + 63 - (uint32_t)__builtin_clzll(near);
    const uint32_t far = word > 0 ? last_bit(set->above, word - 1) : NO_SLOT;
    return far == NO_SLOT ? NO_SLOT : far * 64 + 63 - (uint32_t)__builtin_clzll(set->marks[far]);
}

/* The first marked slot, or NO_SLOT. */
static uint32_t first_mark(const struct optimum_set *set)
{
    for (uint32_t word = 0; word < set->capacity / 64; word++)
        if (set->marks[word])
            return word * 64 + (uint32_t)__builtin_ctzll(set->marks[word]);
    return NO_SLOT;
}

/* --- slots --- */

/* Renumbers the slots that are marked or may be hit, and the last one; drops the others. Returns
 * the number kept. */
static uint32_t drop(struct optimum *optimum, struct optimum_set *set)
{
    const uint32_t first = set->idle > 0 ? 0 : first_mark(set); /* earlier lines cannot hit */
    uint32_t kept = 0;
    for (uint32_t word = 0; word < (set->used + 63) / 64; word++) {
        const uint64_t marks = set->marks[word];
        const uint64_t live = set->live[word];
        uint64_t rest = marks | live;
        if (word == (set->used - 1) / 64)
            rest |= 1ull << ((set->used - 1) % 64);
        set->marks[word] = set->live[word] = 0;
        clear_bit(set->above, word);
        for (; rest; rest &= rest - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(rest);
            const uint32_t slot = word * 64 + bit;
            const bool lives = live >> bit & 1;
            const bool dead = lives && slot < first;
            if (dead)
                line_slots_remove(&optimum->slots, set->lines[slot]);
            else if (lives)
                line_slots_set(&optimum->slots, set->lines[slot], kept);
            if (dead && slot + 1 < set->used)
                continue;
            set->lines[kept] = set->lines[slot];
            if (lives && !dead)
                set_bit(set->live, kept);
            if (marks >> bit & 1)
                mark(set, kept);
            kept++;
        }
    }
    return kept;
}

static bool resize(struct optimum_set *set, uint32_t capacity)
{
    const size_t words = capacity / 64;
    const size_t aboves = (words + 63) / 64;
    uint64_t *marks =
        calloc(1, (2 * words + aboves) * sizeof *marks + capacity * sizeof *set->lines);
    if (!marks)
        return false;
    const struct optimum_set old = *set;
    set->capacity = capacity;
    set->marks = marks;
    set->live = marks + words;
    set->above = set->live + words;
    set->lines = (uint32_t *)(set->above + aboves);
    if (old.capacity > 0) {
        memcpy(set->marks, old.marks, old.capacity / 8);
        memcpy(set->live, old.live, old.capacity / 8);
        memcpy(set->above, old.above, (old.capacity / 64 + 63) / 64 * sizeof *marks);
        memcpy(set->lines, old.lines, old.capacity * sizeof *set->lines);
    }
    free(old.marks);
    return true;
}

/* Makes room for a slot. */
static bool make_room(struct optimum *optimum, struct optimum_set *set)
{
    if (set->capacity == 0) {
        set->idle = optimum->ways;
        return resize(set, SLOTS_MIN);
    }
    set->used = drop(optimum, set);
    return set->used <= set->capacity / 2 || resize(set, 2 * set->capacity);
}

/* --- references --- */

/* Gives a way to a line across the slots since its last use, up to this one. Returns false if none
 * was free. */
static bool take_way(struct optimum_set *set, uint32_t last_use, uint32_t slot)
{
    const uint32_t marked = last_mark(set, last_use);
    if (marked != NO_SLOT)
        unmark(set, marked);
    else if (set->idle > 0)
        set->idle--;
    else
        return false;
    mark(set, slot);
    return true;
}

/* Adds a slot for a line. use: a reference, which may hit. Returns whether it does. */
static bool add_slot(struct optimum *optimum, uint32_t line, uint32_t set_number, bool use)
{
    struct optimum_set *set = &optimum->sets[set_number];
    if ((set->used == set->capacity && !make_room(optimum, set)) ||
        line_slots_reserve(&optimum->slots) < 0) {
        optimum->failed = true;
        return false;
    }
    const uint32_t slot = set->used++;
    const uint32_t before = line_slots_set(&optimum->slots, line, slot);
    if (before)
        clear_bit(set->live, before - 1);
    set_bit(set->live, slot);
    set->lines[slot] = line;
    return use && before && take_way(set, before - 1, slot - !optimum->bypass);
}

static bool happen(struct optimum *optimum, uint32_t address, bool use)
{
    const uint32_t line = address >> optimum->line_shift;
    const uint32_t set = optimum_set(optimum, line);
    if (!optimum->bypass && optimum->last[set] == (uint64_t)line + 1)
        return true;
    optimum->last[set] = (uint64_t)line + 1;
    return optimum->ways > 0 && add_slot(optimum, line, set, use);
}

bool optimum_refer(struct optimum *optimum, uint32_t address)
{
    return happen(optimum, address, true);
}

void optimum_fetch(struct optimum *optimum, uint32_t address)
{
    if (optimum_counts(optimum, address))
        happen(optimum, address, false);
}

void optimum_lose(struct optimum *optimum, uint32_t address)
{
    const uint32_t line = address >> optimum->line_shift;
    const uint32_t set = optimum_set(optimum, line);
    if (!optimum_counts(optimum, address))
        return;
    const uint32_t slot = line_slots_find(&optimum->slots, line);
    if (optimum->last[set] == (uint64_t)line + 1)
        optimum->last[set] = 0;
    if (slot == 0)
        return;
    clear_bit(optimum->sets[set].live, slot - 1);
    line_slots_remove(&optimum->slots, line);
}
