#include "tools/top/frequent.h"

#include "formats/base/hash.h"
#include "tools/common/large_memory.h"
#include "tools/top/rank.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 4096u
#define SLOTS_MAX   (UINT64_C(1) << 31)
#define AHEAD       32u  /* occurrences whose entries are prefetched */
#define COLLECT_MIN 256u /* keys collected beyond twice those that are wanted */
#define USED        (UINT64_C(1) << FREQUENT_KEY_BITS)

/* Linear probing in a table of entries, each a line of the processor's cache. At most half of the
 * slots are used, so that a search rarely touches another one. */
struct frequent {
    struct frequent_entry *slots;
    uint64_t *errors; /* by slot; NULL: exact */
    uint64_t size;    /* number of slots */
    uint64_t held, held_max;
    uint64_t entries; /* keys kept at an eviction; 0: exact */
    uint64_t total;
    uint64_t threshold;
    uint64_t odd; /* random, odd: multiplier of the hash */
    /* for evictions */
    uint32_t *ranked; /* numbers of the used slots */
    struct frequent_entry *kept;
    uint64_t *kept_errors;
};

/* --- slots --- */

static inline uint64_t home(const struct frequent *frequent, uint64_t key)
{
    uint64_t mixed = key * frequent->odd;
    mixed = (mixed ^ mixed >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (mixed >> 32) * frequent->size >> 32;
}

/* The slot of a used key, or the free one where it belongs. */
static inline uint64_t find(const struct frequent *frequent, uint64_t used_key)
{
    uint64_t slot = home(frequent, used_key);
    while (frequent->slots[slot].used_key != used_key && frequent->slots[slot].used_key != 0)
        slot = slot + 1 == frequent->size ? 0 : slot + 1;
    return slot;
}

static uint64_t slots_for(uint64_t keys)
{
    return 2 * keys + 1;
}

static struct frequent_entry *new_slots(uint64_t size)
{
    return large_memory_grow(NULL, 0, size * sizeof(struct frequent_entry));
}

/* Doubles the number of slots. */
static int grow(struct frequent *frequent, struct bt_error *error)
{
    const struct frequent old = *frequent;
    const uint64_t size = 2 * old.size;
    frequent->slots = size > SLOTS_MAX ? NULL : new_slots(size);
    if (!frequent->slots) {
        frequent->slots = old.slots;
        return bt_fail(error, BT_MEMORY,
                       "no memory to count more than %" PRIu64
                       " keys exactly: --approximate or --max-memory counts the most frequent ones "
                       "in bounded memory",
                       old.held);
    }
    frequent->size = size;
    frequent->held_max = size / 2;
    for (uint64_t i = 0; i < old.size; i++)
        if (old.slots[i].used_key)
            frequent->slots[find(frequent, old.slots[i].used_key)] = old.slots[i];
    large_memory_free(old.slots, old.size * sizeof *old.slots);
    return 0;
}

/* --- evictions --- */

uint64_t frequent_error(const struct frequent *frequent, const struct frequent_entry *entry)
{
    return frequent->errors ? frequent->errors[entry - frequent->slots] : 0;
}

uint64_t frequent_count(const struct frequent *frequent, const struct frequent_entry *entry)
{
    uint64_t count = frequent_error(frequent, entry);
    for (unsigned kind = 0; kind < FREQUENT_KINDS; kind++)
        count += entry->counts[kind];
    return count;
}

/* For ranks of slots. */
struct ranking {
    const struct frequent *frequent;
    frequent_order *order;
    const void *context;
};

static int compare_slots(const void *argument, uint32_t one, uint32_t other)
{
    const struct ranking *ranking = argument;
    const struct frequent_entry *slots = ranking->frequent->slots;
    const uint64_t a = frequent_count(ranking->frequent, &slots[one]);
    const uint64_t b = frequent_count(ranking->frequent, &slots[other]);
    const uint64_t key = frequent_key(&slots[one]), other_key = frequent_key(&slots[other]);
    if (a != b)
        return a > b ? -1 : 1;
    if (ranking->order)
        return ranking->order(ranking->context, key, other_key);
    return key < other_key ? -1 : key > other_key;
}

static uint64_t used_slots(const struct frequent *frequent, uint32_t *numbers)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < frequent->size; i++)
        if (frequent->slots[i].used_key)
            numbers[count++] = (uint32_t)i;
    return count;
}

/* Keeps the `entries` most frequent keys. */
static void evict(struct frequent *frequent)
{
    const struct ranking ranking = {.frequent = frequent};
    const uint64_t count = used_slots(frequent, frequent->ranked);
    const uint64_t keep = frequent->entries;
    /* the first evicted key has the highest count of all of them */
    rank_select(frequent->ranked, count, keep, compare_slots, &ranking);
    frequent->threshold = frequent_count(frequent, &frequent->slots[frequent->ranked[keep]]);
    for (uint64_t i = 0; i < keep; i++) {
        frequent->kept[i] = frequent->slots[frequent->ranked[i]];
        frequent->kept_errors[i] = frequent->errors[frequent->ranked[i]];
    }
    memset(frequent->slots, 0, frequent->size * sizeof *frequent->slots);
    for (uint64_t i = 0; i < keep; i++) {
        const uint64_t slot = find(frequent, frequent->kept[i].used_key);
        frequent->slots[slot] = frequent->kept[i];
        frequent->errors[slot] = frequent->kept_errors[i];
    }
    frequent->held = keep;
}

/* --- the whole --- */

uint64_t frequent_bytes(uint64_t entries)
{
    const uint64_t slot = sizeof(struct frequent_entry) + sizeof(uint64_t);
    return slots_for(2 * entries) * slot + 2 * entries * sizeof(uint32_t) + entries * slot;
}

uint64_t frequent_entries(uint64_t bytes)
{
    uint64_t low = 0, high = UINT64_C(1) << 30; /* the answer is from low to high - 1 */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (frequent_bytes(middle) <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Memory that the bounded table has from the start. */
static bool make_bounded(struct frequent *frequent, uint64_t entries)
{
    frequent->entries = entries;
    frequent->held_max = 2 * entries;
    frequent->size = slots_for(2 * entries);
    frequent->errors = calloc(frequent->size, sizeof *frequent->errors);
    frequent->ranked = malloc(2 * entries * sizeof *frequent->ranked);
    frequent->kept = malloc(entries * sizeof *frequent->kept);
    frequent->kept_errors = malloc(entries * sizeof *frequent->kept_errors);
    return frequent->errors && frequent->ranked && frequent->kept && frequent->kept_errors;
}

struct frequent *frequent_new(uint64_t entries, struct bt_error *error)
{
    struct frequent *frequent = calloc(1, sizeof *frequent);
    bool made = frequent != NULL;
    if (made && entries > 0) {
        made = make_bounded(frequent, entries);
    } else if (made) {
        frequent->size = SLOTS_FIRST;
        frequent->held_max = SLOTS_FIRST / 2;
    }
    if (made)
        frequent->slots = new_slots(frequent->size);
    if (made && frequent->slots) {
        frequent->odd = hash_seed(frequent) | 1;
        return frequent;
    }
    frequent_free(frequent);
    bt_fail(error, BT_MEMORY, "no memory for a table of %" PRIu64 " keys", 2 * entries);
    return NULL;
}

void frequent_free(struct frequent *frequent)
{
    if (!frequent)
        return;
    large_memory_free(frequent->slots, frequent->size * sizeof *frequent->slots);
    free(frequent->errors);
    free(frequent->ranked);
    free(frequent->kept);
    free(frequent->kept_errors);
    free(frequent);
}

void frequent_empty(struct frequent *frequent)
{
    memset(frequent->slots, 0, frequent->size * sizeof *frequent->slots);
    frequent->held = frequent->total = frequent->threshold = 0;
}

/* --- counting --- */

/* Makes an entry for a key that is not held. Returns its slot, or a negative code. */
static int64_t insert(struct frequent *frequent, const struct occurrence *occurrence,
                      struct bt_error *error)
{
    if (frequent->held == frequent->held_max) {
        if (frequent->entries > 0)
            evict(frequent);
        else if (grow(frequent, error) < 0)
            return error->code;
    }
    const uint64_t slot = find(frequent, occurrence->key | USED);
    frequent->slots[slot] =
        (struct frequent_entry){.used_key = occurrence->key | USED, .first_tick = occurrence->tick};
    if (frequent->errors)
        frequent->errors[slot] = frequent->threshold;
    frequent->held++;
    return (int64_t)slot;
}

/* Computes where to look for the keys, and fetches that into the processor's cache. */
static void look_ahead(const struct frequent *frequent, const struct occurrence *occurrences,
                       size_t count, uint32_t *homes)
{
    for (size_t i = 0; i < count; i++) {
        homes[i] = (uint32_t)home(frequent, occurrences[i].key | USED);
        __builtin_prefetch(&frequent->slots[homes[i]], 1);
    }
}

static inline void count_one(struct frequent_entry *entry, const struct occurrence *occurrence)
{
    const unsigned processor = occurrence->processor < FREQUENT_PROCESSOR_LAST
                                   ? occurrence->processor
                                   : FREQUENT_PROCESSOR_LAST;
    entry->counts[occurrence->kind]++;
    entry->processors |= UINT64_C(1) << processor;
    entry->last_tick = occurrence->tick;
}

/* Counts some occurrences, whose homes were computed for a table of this size. */
static int add_some(struct frequent *frequent, const struct occurrence *occurrences, size_t count,
                    const uint32_t *homes, uint64_t size, struct bt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t used_key = occurrences[i].key | USED;
        int64_t slot = homes[i];
        if (size != frequent->size || frequent->slots[slot].used_key != used_key)
            slot = (int64_t)find(frequent, used_key);
        if (frequent->slots[slot].used_key == 0)
            slot = insert(frequent, &occurrences[i], error);
        if (slot < 0)
            return (int)slot;
        count_one(&frequent->slots[slot], &occurrences[i]);
        frequent->total++;
    }
    return 0;
}

int frequent_add(struct frequent *frequent, const struct occurrence *occurrences, size_t count,
                 struct bt_error *error)
{
    uint32_t homes[2][AHEAD];
    uint64_t sizes[2] = {frequent->size, frequent->size};
    unsigned turn = 0;
    look_ahead(frequent, occurrences, count < AHEAD ? count : AHEAD, homes[0]);
    for (size_t i = 0; i < count; i += AHEAD, turn ^= 1) {
        const size_t some = count - i < AHEAD ? count - i : AHEAD;
        const size_t left = count - i - some;
        sizes[turn ^ 1] = frequent->size;
        look_ahead(frequent, occurrences + i + some, left < AHEAD ? left : AHEAD, homes[turn ^ 1]);
        if (add_some(frequent, occurrences + i, some, homes[turn], sizes[turn], error) < 0)
            return error->code;
    }
    return 0;
}

/* --- results --- */

uint64_t frequent_held(const struct frequent *frequent)
{
    return frequent->held;
}

uint64_t frequent_total(const struct frequent *frequent)
{
    return frequent->total;
}

uint64_t frequent_threshold(const struct frequent *frequent)
{
    return frequent->threshold;
}

const struct frequent_entry *frequent_find(const struct frequent *frequent, uint64_t key)
{
    const struct frequent_entry *entry = &frequent->slots[find(frequent, key | USED)];
    return entry->used_key ? entry : NULL;
}

/*
 * Collects the slots that may be among the first `wanted` ones in numbers, which has room for
 * `room`, more than that: whenever it is full, the others are dropped. The table is read in
 * sequence, which takes a small part of the time of sorting all its keys. Returns their number.
 */
static uint64_t collect_first(const struct ranking *ranking, uint32_t *numbers, uint64_t room,
                              uint64_t wanted)
{
    const struct frequent *frequent = ranking->frequent;
    uint64_t count = 0;
    uint32_t last = 0; /* the last one that was kept */
    bool full = false;
    for (uint64_t i = 0; i < frequent->size; i++) {
        if (!frequent->slots[i].used_key || (full && compare_slots(ranking, (uint32_t)i, last) > 0))
            continue;
        numbers[count++] = (uint32_t)i;
        if (count < room)
            continue;
        rank_select(numbers, count, wanted - 1, compare_slots, ranking);
        last = numbers[wanted - 1];
        count = wanted;
        full = true;
    }
    return count;
}

int64_t frequent_top(const struct frequent *frequent, const struct frequent_entry **top,
                     size_t count, frequent_order *order, const void *context,
                     struct bt_error *error)
{
    const struct ranking ranking = {.frequent = frequent, .order = order, .context = context};
    const uint64_t wanted = count < frequent->held ? count : frequent->held;
    const uint64_t some = 2 * wanted + COLLECT_MIN;
    const uint64_t room = some < frequent->held ? some : frequent->held + 1;
    if (wanted == 0)
        return 0;
    uint32_t *numbers = malloc(room * sizeof *numbers);
    if (!numbers)
        return bt_fail(error, BT_MEMORY, "no memory to sort %" PRIu64 " keys", room);
    const uint64_t collected = collect_first(&ranking, numbers, room, wanted);
    rank_select(numbers, collected, wanted, compare_slots, &ranking);
    rank_sort(numbers, wanted, compare_slots, &ranking);
    for (uint64_t i = 0; i < wanted; i++)
        top[i] = &frequent->slots[numbers[i]];
    free(numbers);
    return (int64_t)wanted;
}
