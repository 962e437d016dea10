#include "formats/dcfg/phrase_learner.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <string.h>

#define ROUNDS   10u
#define USES_MIN 4u
#define NO_PAIR  UINT32_MAX
#define ROW_COST 24u

/* Two phrases next to each other. */
struct pair {
    uint32_t first, second;
    uint32_t count;
    uint32_t phrase; /* joined of them in this round; 0: not yet, NO_PAIR: not worth it */
};

struct phrase_learner {
    uint32_t *stream;
    size_t count, capacity;
    uint32_t *pair_at; /* by place in the stream: the pair that begins there, or NO_PAIR */
    size_t pair_at_capacity;
    struct pair *pairs;
    size_t pair_count, pair_capacity;
    struct hash_index by_parts; /* pairs */
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
    free(learner->pair_at);
    free(learner->pairs);
    hash_index_clear(&learner->by_parts);
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
    uint32_t *pair_at =
        grow_array(learner->pair_at, &learner->pair_at_capacity, count + 1, sizeof *pair_at);
    if (!pair_at)
        return no_memory(error);
    learner->pair_at = pair_at;
    struct pair *pairs =
        grow_array(learner->pairs, &learner->pair_capacity, count + 1, sizeof *pairs);
    if (!pairs)
        return no_memory(error);
    learner->pairs = pairs;
    memcpy(copy, stream, count * sizeof *copy);
    learner->count = count;
    return 0;
}

/* Counts the pair at a place in the stream. 0 or BT_MEMORY. */
static int count_pair(struct phrase_learner *learner, size_t at)
{
    const uint32_t first = learner->stream[at];
    const uint32_t second = learner->stream[at + 1];
    const uint32_t hash = hash_pair(first, second);
    struct hash_search search = hash_search(&learner->by_parts, hash);
    while (hash_search_next(&search)) {
        struct pair *pair = &learner->pairs[search.number];
        if (pair->first == first && pair->second == second) {
            pair->count++;
            learner->pair_at[at] = search.number;
            return 0;
        }
    }
    const uint32_t number = (uint32_t)learner->pair_count;
    if (hash_index_add(&learner->by_parts, hash, number) != 0)
        return BT_MEMORY;
    learner->pairs[learner->pair_count++] =
        (struct pair){.first = first, .second = second, .count = 1};
    learner->pair_at[at] = number;
    return 0;
}

static int count_pairs(struct phrase_learner *learner, const struct phrases *phrases,
                       struct bt_error *error)
{
    hash_index_empty(&learner->by_parts);
    learner->pair_count = 0;
    for (size_t i = 0; i < learner->count; i++)
        learner->pair_at[i] = NO_PAIR;
    for (size_t i = 0; i + 1 < learner->count; i++)
        if (phrases->items[learner->stream[i]].length +
                    phrases->items[learner->stream[i + 1]].length <=
                PHRASE_EDGES_MAX &&
            count_pair(learner, i) != 0)
            return no_memory(error);
    for (size_t i = 0; i < learner->pair_count; i++) {
        struct pair *pair = &learner->pairs[i];
        if (!is_worth_it(learner, phrases,
                         phrases->items[pair->first].length + phrases->items[pair->second].length,
                         pair->count))
            pair->phrase = NO_PAIR;
    }
    return 0;
}

static struct pair *candidate_at(const struct phrase_learner *learner, size_t i)
{
    if (i >= learner->count || learner->pair_at[i] == NO_PAIR)
        return NULL;
    struct pair *pair = &learner->pairs[learner->pair_at[i]];
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
