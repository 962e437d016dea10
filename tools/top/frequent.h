/*
 * Counts how often keys occur: exactly, or in bounded memory the most frequent ones.
 *
 * In bounded memory it is Space-Saving (Metwally, Agrawal and El Abbadi 2005) that evicts many keys
 * at a time. It holds up to twice `entries` keys. When they are used up, it keeps the `entries`
 * keys with the highest counts and raises its threshold to the highest count that it evicts. A key
 * that comes (back) begins at the threshold, which is its error: it may have occurred so often
 * before. Hence, after N occurrences in all:
 *
 *   - a key's true count is at least count - error, and at most count;
 *   - a key that is not held has occurred at most `threshold` times;
 *   - threshold <= N / entries: each eviction that raises it by d leaves `entries` keys that have
 *     occurred at least d times since the one before.
 *
 * The result depends on the keys' order of occurrence, but not on the hash, whose seed is random.
 */
#ifndef TOOLS_TOP_FREQUENT_H
#define TOOLS_TOP_FREQUENT_H

#include "formats/base/error.h"
#include "formats/record/reference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FREQUENT_KEY_BITS 63u /* keys are smaller than 2^63 */
#define FREQUENT_KINDS    (REFERENCE_KINDS + 1u)

/* Processors of an entry: a bit for each; the last one stands for all from this number on. */
#define FREQUENT_PROCESSOR_LAST 63u

/* An occurrence of a key. */
struct occurrence {
    uint64_t key;
    uint64_t tick;
    uint8_t kind; /* enum reference_kind */
    uint8_t processor;
};

/* A key: one line of a processor's cache. */
struct frequent_entry {
    uint64_t used_key;               /* 0: free; use frequent_key() */
    uint64_t counts[FREQUENT_KINDS]; /* by kind, since it was inserted */
    uint64_t processors;             /* that had it since then */
    uint64_t first_tick, last_tick;  /* of occurrences since then */
};
_Static_assert(sizeof(struct frequent_entry) == 64, "an entry is one cache line");

struct frequent;

/* entries: 0: exact, in as much memory as the keys need; otherwise the bound of above, below 2^30.
 * NULL and *error on failure. */
struct frequent *frequent_new(uint64_t entries, struct bt_error *error);
void frequent_free(struct frequent *frequent);

/* Bytes of memory for a number of entries, and the number of entries for bytes of memory; 0: too
 * few for anything. */
uint64_t frequent_bytes(uint64_t entries);
uint64_t frequent_entries(uint64_t bytes);

/* Counts occurrences. 0; or BT_MEMORY with a sentence, the occurrences before the first new key
 * that has no room being counted. */
int frequent_add(struct frequent *frequent, const struct occurrence *occurrences, size_t count,
                 struct bt_error *error);

/* Forgets all keys, keeps the memory. */
void frequent_empty(struct frequent *frequent);

/* Number of keys held, of occurrences in all, and the threshold of above. */
uint64_t frequent_held(const struct frequent *frequent);
uint64_t frequent_total(const struct frequent *frequent);
uint64_t frequent_threshold(const struct frequent *frequent);

/* Finds a key; NULL: not held. */
const struct frequent_entry *frequent_find(const struct frequent *frequent, uint64_t key);

static inline uint64_t frequent_key(const struct frequent_entry *entry)
{
    return entry->used_key & ~(UINT64_C(1) << FREQUENT_KEY_BITS);
}

/* How often the key may have occurred before it was inserted. */
uint64_t frequent_error(const struct frequent *frequent, const struct frequent_entry *entry);

/* Its count, the error included. */
uint64_t frequent_count(const struct frequent *frequent, const struct frequent_entry *entry);

/* Order of two keys with the same count: below 0, 0, above 0. */
typedef int frequent_order(const void *context, uint64_t one, uint64_t other);

/*
 * Stores up to count entries with the highest counts, in descending order; equal counts in the
 * order given (NULL: of the keys). The entries are valid until the next change. Returns their
 * number, or BT_MEMORY.
 */
int64_t frequent_top(const struct frequent *frequent, const struct frequent_entry **top,
                     size_t count, frequent_order *order, const void *context,
                     struct bt_error *error);

#endif
