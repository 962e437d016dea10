#include "tools/cache/optimum.h"

#include "tools/cache/line_values.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 16u

/* Of a part of a set's slots: the sum of their steps, and the largest sum of its first ones. */
struct slot_range {
    int32_t sum, largest;
};

/*
 * The references to a set, a slot each, in their order. A slot's value is the number of ways that
 * are given to other lines across it, kept as its step from the slot before. A new slot has the
 * value 0; a hit adds 1 to all slots since the last use of its line. The largest value since a slot
 * is that of the last part of a tree: node n has the children 2n and 2n + 1, leaves are the slots.
 */
struct optimum_set {
    uint32_t capacity; /* slots; a power of two, or 0 */
    uint32_t used;
    uint32_t *lines; /* by slot: address of the line */
    struct slot_range *ranges;
};

struct optimum {
    struct set_index index;
    unsigned line_shift;
    bool bypass;
    bool failed;
    int32_t limit;            /* a line is not kept across a slot of this value */
    struct line_values slots; /* uint32_t: slot of the last use of each line that may hit */
    struct optimum_set *sets;
    int32_t *values; /* for compact() */
    uint32_t value_capacity;
};

struct optimum *optimum_new(const struct set_index *sets, uint32_t ways, unsigned line_shift,
                            bool bypass)
{
    struct optimum *optimum = calloc(1, sizeof *optimum);
    if (!optimum)
        return NULL;
    optimum->index = *sets;
    optimum->line_shift = line_shift;
    optimum->bypass = bypass;
    optimum->limit = (int32_t)ways - !bypass;
    optimum->slots.value_bytes = sizeof(uint32_t);
    optimum->sets = calloc(sets->sets, sizeof *optimum->sets);
    if (!optimum->sets) {
        optimum_free(optimum);
        return NULL;
    }
    return optimum;
}

void optimum_free(struct optimum *optimum)
{
    if (!optimum)
        return;
    for (uint32_t set = 0; optimum->sets && set < optimum->index.sets; set++) {
        free(optimum->sets[set].lines);
        free(optimum->sets[set].ranges);
    }
    free(optimum->sets);
    free(optimum->values);
    line_values_clear(&optimum->slots);
    free(optimum);
}

bool optimum_failed(const struct optimum *optimum)
{
    return optimum->failed;
}

/* --- the tree --- */

static void join(struct slot_range *ranges, uint32_t node)
{
    const struct slot_range *left = &ranges[2 * node];
    const struct slot_range *right = &ranges[2 * node + 1];
    int32_t later = left->sum + right->largest;
    ranges[node].sum = left->sum + right->sum;
    ranges[node].largest = left->largest > later ? left->largest : later;
}

/* Adds to the values of a slot and all after it. */
static void add_from(struct optimum_set *set, uint32_t slot, int32_t more)
{
    uint32_t node = set->capacity + slot;
    set->ranges[node].sum += more;
    set->ranges[node].largest += more;
    while ((node /= 2) > 0)
        join(set->ranges, node);
}

/* The largest value of a slot and all after it. Unused slots have the value of the last used one.
 */
static int32_t largest_from(const struct optimum_set *set, uint32_t slot)
{
    uint32_t node = set->capacity + slot;
    struct slot_range range = set->ranges[node];
    int32_t before = 0;
    for (; node > 1; node /= 2) {
        const struct slot_range *sibling = &set->ranges[node ^ 1];
        if (node & 1) {
            before += sibling->sum;
        } else {
            int32_t later = range.sum + sibling->largest;
            range.largest = range.largest > later ? range.largest : later;
            range.sum += sibling->sum;
        }
    }
    return before + range.largest;
}

/* --- making room --- */

/* Computes the values of all slots; returns the first slot whose line may still be hit. */
static uint32_t evaluate(const struct optimum *optimum, const struct optimum_set *set)
{
    uint32_t first = 0;
    int32_t value = 0;
    for (uint32_t slot = 0; slot < set->used; slot++) {
        value += set->ranges[set->capacity + slot].sum;
        optimum->values[slot] = value;
        if (value >= optimum->limit)
            first = optimum->bypass ? slot + 1 : slot;
    }
    return first;
}

/* Keeps the slots of lines that may be hit, and the last one. A slot that goes merges its value
 * with a slot that is kept and that the same reuses cross. Returns the number kept. */
static uint32_t keep(struct optimum *optimum, struct optimum_set *set, uint32_t first)
{
    uint32_t kept = 0;
    int32_t pending = 0;
    for (uint32_t slot = 0; slot < set->used; slot++) {
        int32_t value = optimum->values[slot];
        const uint32_t *last = line_values_find(&optimum->slots, set->lines[slot]);
        bool lives = last && *last == slot;
        if (lives && slot < first)
            line_values_remove(&optimum->slots, set->lines[slot]);
        if ((lives && slot >= first) || slot + 1 == set->used) {
            if (lives && slot >= first)
                *(uint32_t *)line_values_find(&optimum->slots, set->lines[slot]) = kept;
            set->lines[kept] = set->lines[slot];
            optimum->values[kept++] = !optimum->bypass && pending > value ? pending : value;
            pending = 0;
        } else if (!optimum->bypass) {
            pending = value > pending ? value : pending;
        } else if (kept > 0 && optimum->values[kept - 1] < value) {
            optimum->values[kept - 1] = value;
        }
    }
    return kept;
}

static bool resize(struct optimum_set *set, uint32_t capacity)
{
    uint32_t *lines = realloc(set->lines, capacity * sizeof *lines);
    if (lines)
        set->lines = lines;
    struct slot_range *ranges = malloc(2 * (size_t)capacity * sizeof *ranges);
    if (!lines || !ranges) {
        free(ranges);
        return false;
    }
    free(set->ranges);
    set->ranges = ranges;
    set->capacity = capacity;
    return true;
}

/* Makes room for a slot. */
static bool compact(struct optimum *optimum, struct optimum_set *set)
{
    if (optimum->value_capacity < set->capacity) {
        int32_t *values = realloc(optimum->values, set->capacity * sizeof *values);
        if (!values)
            return false;
        optimum->values = values;
        optimum->value_capacity = set->capacity;
    }
    uint32_t kept = set->used > 0 ? keep(optimum, set, evaluate(optimum, set)) : 0;
    uint32_t capacity = set->capacity < SLOTS_MIN ? SLOTS_MIN : set->capacity;
    if (kept > capacity / 2)
        capacity *= 2;
    if (capacity != set->capacity && !resize(set, capacity))
        return false;
    memset(set->ranges, 0, 2 * (size_t)capacity * sizeof *set->ranges);
    for (uint32_t slot = 0; slot < kept; slot++) {
        int32_t step = optimum->values[slot] - (slot > 0 ? optimum->values[slot - 1] : 0);
        set->ranges[capacity + slot] = (struct slot_range){.sum = step, .largest = step};
    }
    for (uint32_t node = capacity; --node > 0;)
        join(set->ranges, node);
    set->used = kept;
    return true;
}

/* --- references --- */

static uint32_t line_of(const struct optimum *optimum, uint32_t address)
{
    return address >> optimum->line_shift << optimum->line_shift;
}

static struct optimum_set *set_of(const struct optimum *optimum, uint32_t address)
{
    return &optimum->sets[set_index_of(&optimum->index, address >> optimum->line_shift)];
}

/* Whether the last reference to the set was to this line, which nothing crosses. */
static bool is_last(const struct optimum *optimum, const struct optimum_set *set, uint32_t line)
{
    if (optimum->bypass || set->used == 0 || set->lines[set->used - 1] != line)
        return false;
    const uint32_t *slot = line_values_find(&optimum->slots, line);
    return slot && *slot == set->used - 1;
}

void optimum_fetch(struct optimum *optimum, uint32_t address)
{
    struct optimum_set *set = set_of(optimum, address);
    uint32_t line = line_of(optimum, address);
    if (is_last(optimum, set, line))
        return;
    if (set->used == set->capacity && !compact(optimum, set)) {
        optimum->failed = true;
        return;
    }
    uint32_t *slot = line_values_add(&optimum->slots, line);
    if (!slot) {
        optimum->failed = true;
        return;
    }
    int32_t last = set->ranges[1].sum;
    *slot = set->used++;
    set->lines[*slot] = line;
    add_from(set, *slot, -last);
}

bool optimum_refer(struct optimum *optimum, uint32_t address)
{
    struct optimum_set *set = set_of(optimum, address);
    uint32_t line = line_of(optimum, address);
    if (is_last(optimum, set, line))
        return true;
    const uint32_t *slot = line_values_find(&optimum->slots, line);
    uint32_t from = slot ? *slot + !optimum->bypass : 0;
    bool hit = slot && largest_from(set, from) < optimum->limit;
    if (hit)
        add_from(set, from, 1);
    optimum_fetch(optimum, address);
    return hit;
}

void optimum_lose(struct optimum *optimum, uint32_t address)
{
    line_values_remove(&optimum->slots, line_of(optimum, address));
}
