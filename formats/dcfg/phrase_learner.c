#include "formats/dcfg/phrase_learner.h"

#include "formats/base/grow.h"

#include <string.h>

#define ROUNDS   10u
#define USES_MIN 4u
#define NO_PAIR  UINT32_MAX
#define ROW_COST 24u

/* Two phrases next to each other. */
struct pair {
    uint32_t first, second;
    uint32_t count;  /* 0: the slot is free */
    uint32_t phrase; /* joined of them in this round; 0: not yet, NO_PAIR: not worth it */
};

struct phrase_learner {
    uint32_t *stream;
    size_t count, capacity;
    uint32_t *slots; /* of the pair that begins at each phrase */
    size_t slot_capacity;
    struct pair *pairs; /* a hash table */
    size_t pair_size, pair_capacity;
    unsigned patience;
};

struct phrase_learner *phrase_learner_new(void)
{
    return calloc(1, sizeof(struct phrase_learner));
}

void phrase_learner_free(struct phrase_learner *learner)
{
    if (!learner)
        return;
    free(learner->stream);
    free(learner->slots);
    free(learner->pairs);
    free(learner);
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the TRANSITION_TABLE");
}

uint64_t phrase_learner_row_cost(uint32_t length, uint32_t edge_max)
{
    uint64_t digits = 1;
    for (; edge_max >= 10; edge_max /= 10)
        digits++;
    return ROW_COST + (digits + 1) * length;
}

static bool is_worth_it(const struct phrase_learner *learner, const struct phrases *phrases,
                        uint32_t length, uint64_t uses)
{
    return uses >= USES_MIN &&
           uses * learner->patience >= phrase_learner_row_cost(length, phrases->edge_max);
}

static int take_stream(struct phrase_learner *learner, const uint32_t *stream, size_t count,
                       struct bt_error *error)
{
    uint32_t *copy = grow_array(learner->stream, &learner->capacity, count + 1, sizeof *copy);
    if (!copy)
        return no_memory(error);
    learner->stream = copy;
    uint32_t *slots = grow_array(learner->slots, &learner->slot_capacity, count + 1, sizeof *slots);
    if (!slots)
        return no_memory(error);
    learner->slots = slots;
    memcpy(copy, stream, count * sizeof *copy);
    learner->count = count;
    return 0;
}

static uint32_t count_pair(struct phrase_learner *learner, uint32_t first, uint32_t second)
{
    size_t mask = learner->pair_size - 1;
    uint64_t hash = ((uint64_t)first << 32 | second) * 0x9e3779b97f4a7c15u;
    size_t i = (hash ^ hash >> 29) & mask;
    struct pair *pair = &learner->pairs[i];
    while (pair->count != 0 && (pair->first != first || pair->second != second)) {
        i = (i + 1) & mask;
        pair = &learner->pairs[i];
    }
    *pair = (struct pair){.first = first, .second = second, .count = pair->count + 1, .phrase = 0};
    return (uint32_t)i;
}

static int count_pairs(struct phrase_learner *learner, const struct phrases *phrases,
                       struct bt_error *error)
{
    learner->pair_size = 1024;
    while (learner->pair_size < learner->count * 2)
        learner->pair_size *= 2;
    struct pair *pairs =
        grow_array(learner->pairs, &learner->pair_capacity, learner->pair_size, sizeof *pairs);
    if (!pairs)
        return no_memory(error);
    learner->pairs = pairs;
    memset(pairs, 0, learner->pair_size * sizeof *pairs);
    for (size_t i = 0; i < learner->count; i++)
        learner->slots[i] = NO_PAIR;
    for (size_t i = 0; i + 1 < learner->count; i++) {
        uint32_t first = learner->stream[i];
        uint32_t second = learner->stream[i + 1];
        if (phrases->items[first].length + phrases->items[second].length <= PHRASE_EDGES_MAX)
            learner->slots[i] = count_pair(learner, first, second);
    }
    for (size_t i = 0; i < learner->pair_size; i++) {
        struct pair *pair = &pairs[i];
        if (pair->count > 0 &&
            !is_worth_it(learner, phrases,
                         phrases->items[pair->first].length + phrases->items[pair->second].length,
                         pair->count))
            pair->phrase = NO_PAIR;
    }
    return 0;
}

static struct pair *candidate_at(const struct phrase_learner *learner, size_t i)
{
    if (i >= learner->count || learner->slots[i] == NO_PAIR)
        return NULL;
    struct pair *pair = &learner->pairs[learner->slots[i]];
    return pair->phrase == NO_PAIR ? NULL : pair;
}

/* Joins each pair unless the pair after it is more frequent. Returns the number, or BT_MEMORY. */
static long join_pairs(struct phrase_learner *learner, struct phrases *phrases,
                       struct bt_error *error)
{
    size_t made = 0;
    long joined = 0;
    for (size_t i = 0; i < learner->count;) {
        struct pair *pair = candidate_at(learner, i);
        const struct pair *next = pair ? candidate_at(learner, i + 1) : NULL;
        if (!pair || (next && next != pair && next->count > pair->count)) {
            learner->stream[made++] = learner->stream[i++];
            continue;
        }
        if (pair->phrase == 0)
            pair->phrase = phrases_join(phrases, pair->first, pair->second);
        if (pair->phrase == 0)
            return no_memory(error);
        learner->stream[made++] = pair->phrase;
        i += 2;
        joined++;
    }
    learner->count = made;
    return joined;
}

/*
 * Activates the phrases from number `from` on that are worth their row; the uses of the others go
 * to their parts. Returns the number activated, or BT_MEMORY.
 */
static long keep_phrases(struct phrase_learner *learner, struct phrases *phrases, size_t from,
                         struct bt_error *error)
{
    long kept = 0;
    size_t end = from; /* after the last phrase that is kept, or part of one */
    size_t count = phrases->count;
    uint64_t *uses = calloc(count - from + 1, sizeof *uses);
    if (!uses)
        return no_memory(error);
    for (size_t i = 0; i < learner->count; i++)
        if (learner->stream[i] >= from)
            uses[learner->stream[i] - from]++;
    for (size_t i = count; i-- > from && kept >= 0;) {
        const struct phrase *phrase = &phrases->items[i];
        if (is_worth_it(learner, phrases, phrase->length, uses[i - from])) {
            int result = phrases_activate(phrases, (uint32_t)i, error);
            kept = result < 0 ? result : kept + result;
            end = end == from ? i + 1 : end;
            continue;
        }
        for (int part = 0; part < 2; part++)
            if (phrase->parts[part] >= from)
                uses[phrase->parts[part] - from] += uses[i - from];
    }
    free(uses);
    if (kept >= 0)
        phrases_drop(phrases, end);
    return kept;
}

long phrase_learner_learn(struct phrase_learner *learner, struct phrases *phrases,
                          const uint32_t *stream, size_t count, unsigned patience,
                          struct bt_error *error)
{
    size_t from = phrases->count;
    long joined = 1;
    learner->patience = patience;
    int result = take_stream(learner, stream, count, error);
    for (unsigned round = 0; round < ROUNDS && joined > 0 && result == 0; round++) {
        result = count_pairs(learner, phrases, error);
        if (result == 0)
            joined = join_pairs(learner, phrases, error);
    }
    if (result < 0 || joined < 0)
        return BT_MEMORY;
    return keep_phrases(learner, phrases, from, error);
}
