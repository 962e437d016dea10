#include "tools/dcfg/graph/fetch_join.h"

#include <stdlib.h>

#define HALF    8u    /* bytes of the first fetch */
#define SIZES   1024u /* entries of the memo; a power of two */
#define UNKNOWN 0xffu

/* The size of the instruction at an address; 0: the images have none there. */
struct known_size {
    uint32_t address;
    uint8_t size; /* UNKNOWN: an empty entry */
};

struct fetch_join {
    const struct images *images;
    struct sink *to;
    struct batch held; /* a first half, and what precedes it; count 0: none */
    struct record half;
    struct known_size sizes[SIZES];
};

struct fetch_join *fetch_join_new(const struct images *images, struct sink *to,
                                  struct bt_error *error)
{
    struct fetch_join *join = calloc(1, sizeof *join);
    if (!join) {
        bt_fail(error, BT_MEMORY, "no memory to join fetches");
        return NULL;
    }
    join->images = images;
    join->to = to;
    for (unsigned i = 0; i < SIZES; i++)
        join->sizes[i].size = UNKNOWN;
    return join;
}

void fetch_join_free(struct fetch_join *join)
{
    free(join);
}

static unsigned size_at(struct fetch_join *join, uint32_t address)
{
    struct known_size *known = &join->sizes[address % SIZES];
    struct image_instruction instruction;
    if (known->address != address || known->size == UNKNOWN) {
        known->address = address;
        known->size =
            images_instruction(join->images, address, &instruction) ? instruction.size : 0;
    }
    return known->size;
}

static bool may_be_half(const struct record *record)
{
    return record->type == REQUEST_FETCH && record->size == HALF;
}

/* Whether two successive records fetch one instruction. */
static bool are_one(struct fetch_join *join, const struct record *first,
                    const struct record *second)
{
    return may_be_half(first) && second->type == REQUEST_FETCH && second->time == 0 &&
           second->processor == first->processor && second->address == first->address + HALF &&
           size_at(join, first->address) == HALF + second->size;
}

/* Joins records in place. Returns their number. */
static size_t join_records(struct fetch_join *join, struct record *records, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && records[i].time == 0 && are_one(join, &records[kept - 1], &records[i]))
            records[kept - 1].size = (uint8_t)(HALF + records[i].size);
        else
            records[kept++] = records[i];
    }
    return kept;
}

/* Puts the held half, joined if next, which may be NULL, is the other one. Returns whether it is.
 */
static bool put_held(struct fetch_join *join, const struct record *next, int *result,
                     struct bt_error *error)
{
    if (join->held.count == 0)
        return false;
    bool joined = next && are_one(join, &join->half, next);
    if (joined)
        join->half.size = (uint8_t)(HALF + next->size);
    join->held.records = &join->half;
    *result = sink_put(join->to, &join->held, error);
    join->held.count = 0;
    return joined;
}

int fetch_join_put(struct fetch_join *join, const struct batch *batch, struct bt_error *error)
{
    const bool follows =
        batch->count > 0 && !batch_has_loss_or_gap(batch) && batch->event == EVENT_NONE;
    struct batch rest = *batch;
    int result = 0;
    if (put_held(join, follows ? batch->records : NULL, &result, error)) {
        rest.records++;
        rest.count--;
    }
    rest.count = join_records(join, rest.records, rest.count);
    if (result != 0 || rest.count == 0)
        return result == 0 ? sink_put(join->to, &rest, error) : result;
    const struct record last = rest.records[rest.count - 1];
    if (!may_be_half(&last) || size_at(join, last.address) <= HALF)
        return sink_put(join->to, &rest, error);
    if (--rest.count > 0) {
        result = sink_put(join->to, &rest, error);
        rest.gap = (struct gap){.milliseconds = 0};
        rest.event = EVENT_NONE;
    }
    join->half = last;
    join->held = rest;
    join->held.count = 1;
    return result;
}

int fetch_join_end(struct fetch_join *join, struct bt_error *error)
{
    int result = 0;
    put_held(join, NULL, &result, error);
    return result;
}
