#include "tools/mrc/shards.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"
#include "tools/mrc/sample.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 1024u

/* A line that is followed. */
struct followed {
    uint32_t line;
    uint32_t slot;  /* of its last reference */
    uint32_t place; /* in the heap */
};

/*
 * References are numbered by slots. marks is a Fenwick tree, which counts the slots that are the
 * last one of a line. When the slots are used up, the last ones of all lines are numbered anew.
 */
struct shards {
    uint32_t most; /* number of lines to follow */
    uint64_t limit;
    struct followed *lines;
    size_t count, capacity;
    struct hash_index by_line;
    uint32_t *heap; /* numbers of lines, the largest hash on top */
    size_t heap_capacity;
    uint32_t *marks;     /* slots + 1 elements */
    uint32_t *owners;    /* the line of a slot, for renumbering; slots + 1 elements */
    uint32_t slots, now; /* the last slot used */
};

struct shards *shards_new(uint32_t lines, struct bt_error *error)
{
    struct shards *shards = calloc(1, sizeof *shards);
    if (!shards) {
        bt_fail(error, BT_MEMORY, "no memory for a sample");
        return NULL;
    }
    shards->most = lines;
    shards->limit = SAMPLE_ALL;
    return shards;
}

void shards_free(struct shards *shards)
{
    if (!shards)
        return;
    free(shards->lines);
    free(shards->heap);
    free(shards->marks);
    free(shards->owners);
    hash_index_clear(&shards->by_line);
    free(shards);
}

uint64_t shards_limit(const struct shards *shards)
{
    return shards->limit;
}

/* --- slots --- */

static void mark(struct shards *shards, uint32_t slot, uint32_t change)
{
    for (; slot <= shards->slots; slot += slot & (0 - slot))
        shards->marks[slot] += change;
}

/* The number of marked slots up to one. */
static uint32_t marked_to(const struct shards *shards, uint32_t slot)
{
    uint32_t sum = 0;
    for (; slot > 0; slot -= slot & (0 - slot))
        sum += shards->marks[slot];
    return sum;
}

/* Numbers the last references anew, with room for at least as many again. */
static int renumber(struct shards *shards, struct bt_error *error)
{
    const size_t wanted = 2 * shards->count > SLOTS_MIN ? 2 * shards->count : SLOTS_MIN;
    const uint32_t slots = (uint32_t)wanted;
    uint32_t *marks = calloc((size_t)slots + 1, sizeof *marks);
    uint32_t *owners = calloc((size_t)slots + 1, sizeof *owners);
    if (!marks || !owners) {
        free(marks);
        free(owners);
        return bt_fail(error, BT_MEMORY, "no memory for %u references of a sample", slots);
    }
    uint32_t next = 0;
    for (uint32_t slot = 1; slot <= shards->now; slot++) {
        const uint32_t number = shards->owners[slot];
        if (number < shards->count && shards->lines[number].slot == slot) {
            owners[++next] = number;
            shards->lines[number].slot = next;
        }
    }
    free(shards->marks);
    free(shards->owners);
    shards->marks = marks;
    shards->owners = owners;
    shards->slots = slots;
    shards->now = next;
    for (uint32_t slot = 1; slot <= next; slot++)
        mark(shards, slot, 1);
    return 0;
}

/* --- the heap --- */

static uint32_t hash_at(const struct shards *shards, size_t place)
{
    return sample_hash(shards->lines[shards->heap[place]].line);
}

static void put_at(struct shards *shards, size_t place, uint32_t number)
{
    shards->heap[place] = number;
    shards->lines[number].place = (uint32_t)place;
}

static void sift_up(struct shards *shards, size_t place)
{
    const uint32_t number = shards->heap[place];
    const uint32_t hash = sample_hash(shards->lines[number].line);
    for (; place > 0 && hash_at(shards, (place - 1) / 2) < hash; place = (place - 1) / 2)
        put_at(shards, place, shards->heap[(place - 1) / 2]);
    put_at(shards, place, number);
}

/* count: number of lines in the heap */
static void sift_down(struct shards *shards, size_t place, size_t count)
{
    const uint32_t number = shards->heap[place];
    const uint32_t hash = sample_hash(shards->lines[number].line);
    for (size_t below; (below = 2 * place + 1) < count; place = below) {
        if (below + 1 < count && hash_at(shards, below + 1) > hash_at(shards, below))
            below++;
        if (hash_at(shards, below) <= hash)
            break;
        put_at(shards, place, shards->heap[below]);
    }
    put_at(shards, place, number);
}

/* --- lines --- */

static uint32_t find(const struct shards *shards, uint32_t line)
{
    struct hash_search search = hash_search(&shards->by_line, hash_number(line));
    while (hash_search_next(&search))
        if (shards->lines[search.number].line == line)
            return search.number;
    return UINT32_MAX;
}

static int add_line(struct shards *shards, uint32_t line, struct bt_error *error)
{
    const size_t number = shards->count;
    struct followed *lines =
        grow_array(shards->lines, &shards->capacity, number + 1, sizeof *lines);
    if (lines)
        shards->lines = lines;
    uint32_t *heap = grow_array(shards->heap, &shards->heap_capacity, number + 1, sizeof *heap);
    if (heap)
        shards->heap = heap;
    if (!lines || !heap ||
        hash_index_add(&shards->by_line, hash_number(line), (uint32_t)number) != 0)
        return bt_fail(error, BT_MEMORY, "no memory for a sample of %zu lines", number + 1);
    shards->lines[number] = (struct followed){.line = line};
    shards->count++;
    put_at(shards, number, (uint32_t)number);
    sift_up(shards, number);
    return 0;
}

/* Forgets the line with the largest hash, which becomes the limit. The last line gets its number.
 */
static void forget_largest(struct shards *shards)
{
    const uint32_t number = shards->heap[0];
    const struct followed gone = shards->lines[number];
    const size_t count = --shards->count;
    shards->limit = sample_hash(gone.line);
    mark(shards, gone.slot, UINT32_MAX);
    hash_index_remove(&shards->by_line, hash_number(gone.line), number);
    put_at(shards, 0, shards->heap[count]);
    if (count > 0)
        sift_down(shards, 0, count);
    if (number == count)
        return;
    const struct followed *last = &shards->lines[count];
    hash_index_renumber(&shards->by_line, hash_number(last->line), (uint32_t)count, number);
    shards->heap[last->place] = number;
    shards->owners[last->slot] = number;
    shards->lines[number] = *last;
}

int shards_reference(struct shards *shards, uint32_t line, uint64_t *distance,
                     struct bt_error *error)
{
    if (shards->now == shards->slots && renumber(shards, error) < 0)
        return error->code;
    uint32_t number = find(shards, line);
    *distance = SHARDS_COLD;
    if (number != UINT32_MAX) {
        const uint32_t slot = shards->lines[number].slot;
        *distance = shards->count - marked_to(shards, slot);
        mark(shards, slot, UINT32_MAX);
    } else {
        number = (uint32_t)shards->count;
        if (add_line(shards, line, error) < 0)
            return error->code;
    }
    shards->lines[number].slot = ++shards->now;
    shards->owners[shards->now] = number;
    mark(shards, shards->now, 1);
    if (shards->count > shards->most)
        forget_largest(shards);
    return 0;
}
