#include "formats/dcfg/edge_walk.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 4096u
/* Short runs are copied as this many edges at once; the table is padded by as many. */
#define SHORT_RUN 16u

struct edge_walk {
    const struct transition_table *table;
    const struct transition *transitions;
    const uint32_t *edges;
    struct edge_sequence *sequence;
    uint64_t count; /* of the chunk */
    uint64_t left;  /* edges to be returned, without those pending */
    uint64_t bits;  /* from the sequence, the highest first, followed by zeros */
    unsigned bits_left;
    size_t value, value_count; /* in values: next, end */
    uint64_t values_taken;     /* from the sequence, in total */
    uint32_t pending;          /* edges found but not yet returned */
    uint64_t pending_count;
    uint32_t at; /* start of the transitions from the last edge found */
    uint32_t first;
    uint8_t width;
    uint8_t values[VALUES];
};

struct edge_walk *edge_walk_new(void)
{
    return calloc(1, sizeof(struct edge_walk));
}

void edge_walk_free(struct edge_walk *walk)
{
    free(walk);
}

void edge_walk_start(struct edge_walk *walk, const struct transition_table *table,
                     struct edge_sequence *sequence, uint32_t first, uint64_t count)
{
    walk->table = table;
    walk->transitions = transition_table_transitions(table);
    walk->edges = transition_table_edges(table);
    walk->sequence = sequence;
    walk->count = count;
    walk->left = count;
    walk->bits = 0;
    walk->bits_left = 0;
    walk->value = 0;
    walk->value_count = 0;
    walk->values_taken = 0;
    walk->pending_count = 0;
    walk->first = first;
    transition_table_from(table, first, &walk->at, &walk->width);
}

/* Refills bits_left to at least 32, if the sequence has as many. */
static void refill(struct edge_walk *walk)
{
    while (walk->bits_left <= 58) {
        if (walk->value == walk->value_count) {
            walk->value = 0;
            walk->value_count = edge_sequence_read(walk->sequence, walk->values, VALUES);
            walk->values_taken += walk->value_count;
            if (walk->value_count == 0)
                return;
        }
        walk->bits |= (uint64_t)walk->values[walk->value++] << (58 - walk->bits_left);
        walk->bits_left += 6;
    }
}

static int no_transition(const struct edge_walk *walk, struct transition found, uint64_t given,
                         struct bt_error *error)
{
    uint64_t edge = walk->count - walk->left + given;
    if (found.kind != TRANSITION_NONE || (walk->bits_left < TRANSITION_BITS_MAX && walk->at != 0))
        return bt_fail(error, BT_DATA, "the EDGE_ID_SEQUENCE ends after edge %llu of %llu",
                       (unsigned long long)edge, (unsigned long long)walk->count);
    if (walk->at == 0)
        return bt_fail(error, BT_DATA,
                       "the TRANSITION_TABLE has no successor of edge %llu of the chunk",
                       (unsigned long long)edge);
    return bt_fail(error, BT_DATA,
                   "the TRANSITION_TABLE has no code for the bits after edge %llu of the chunk",
                   (unsigned long long)edge);
}

/* Copies pending edges, up to capacity. */
static size_t give_pending(struct edge_walk *walk, uint32_t *edges, size_t capacity)
{
    size_t size = walk->pending_count < capacity ? (size_t)walk->pending_count : capacity;
    if (size == 0)
        return 0;
    memcpy(edges, walk->edges + walk->pending, size * sizeof *edges);
    walk->pending += (uint32_t)size;
    walk->pending_count -= size;
    return size;
}

/*
 * Walks while whole runs fit, with the state of each step in registers. Returns the number of
 * edges; *found is the first transition not taken, because it does not fit, or is missing.
 */
static size_t walk_runs(struct edge_walk *walk, uint32_t *edges, size_t capacity,
                        struct transition *found)
{
    const struct transition *transitions = walk->transitions;
    uint64_t bits = walk->bits;
    unsigned bits_left = walk->bits_left;
    uint32_t at = walk->at;
    uint8_t width = walk->width;
    size_t given = 0;
    for (;;) {
        if (bits_left < TRANSITION_BITS_MAX) {
            walk->bits = bits;
            walk->bits_left = bits_left;
            refill(walk);
            bits = walk->bits;
            bits_left = walk->bits_left;
        }
        struct transition next = transitions[at + (bits >> 1 >> (63 - width))];
        if (next.kind == TRANSITION_LONG)
            next = transition_table_search(walk->table, next, (uint32_t)(bits >> 32));
        *found = next;
        if (next.kind != TRANSITION_KNOWN || next.bits > bits_left || next.count > capacity - given)
            break;
        uint32_t *to = edges + given;
        if (next.count <= SHORT_RUN && capacity - given >= SHORT_RUN)
            memcpy(to, walk->edges + next.next, SHORT_RUN * sizeof *to);
        else
            memcpy(to, walk->edges + next.next, next.count * sizeof *to);
        given += next.count;
        bits <<= next.bits;
        bits_left -= next.bits;
        at = next.then_first;
        width = next.then_width;
    }
    walk->bits = bits;
    walk->bits_left = bits_left;
    walk->at = at;
    walk->width = width;
    return given;
}

/* Takes the part of a run that fits, and keeps the rest pending. */
static size_t split_run(struct edge_walk *walk, struct transition found, uint32_t *edges,
                        size_t capacity)
{
    walk->bits <<= found.bits;
    walk->bits_left -= found.bits;
    walk->at = found.then_first;
    walk->width = found.then_width;
    walk->pending = found.next;
    walk->pending_count = found.count;
    return give_pending(walk, edges, capacity);
}

long edge_walk_read(struct edge_walk *walk, uint32_t *edges, size_t capacity,
                    struct bt_error *error)
{
    if (capacity > LONG_MAX)
        capacity = LONG_MAX;
    if (capacity > walk->left)
        capacity = (size_t)walk->left;
    if (capacity == 0)
        return 0;
    size_t given = 0;
    if (walk->left == walk->count)
        edges[given++] = walk->first;
    given += give_pending(walk, edges + given, capacity - given);
    if (given < capacity) {
        struct transition found;
        given += walk_runs(walk, edges + given, capacity - given, &found);
        if (given < capacity) {
            if (found.kind != TRANSITION_KNOWN || found.bits > walk->bits_left) {
                if (given == 0)
                    return no_transition(walk, found, given, error);
            } else {
                given += split_run(walk, found, edges + given, capacity - given);
            }
        }
    }
    walk->left -= given;
    return (long)given;
}

uint64_t edge_walk_unused(const struct edge_walk *walk)
{
    uint64_t used = walk->values_taken - (walk->value_count - walk->value) - walk->bits_left / 6;
    return edge_sequence_length(walk->sequence) - used;
}
