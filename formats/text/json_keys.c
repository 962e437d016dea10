#include "formats/text/json_keys.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64u

struct json_key_entry {
    uint64_t hash;
    size_t at, size; /* in octets */
    uint32_t depth;
    uint32_t before; /* 1 + the previous entry in the same slot; 0 if none */
};

/* Entries are removed in the reverse order of insertion, so that the removed entry is always the
 * last one of its slot. */
static void link_entry(struct json_keys *keys, size_t number)
{
    struct json_key_entry *entry = &keys->entries[number];
    uint32_t *slot = &keys->slots[entry->hash & (keys->slot_count - 1)];
    entry->before = *slot;
    *slot = (uint32_t)number + 1;
}

/* Keeps the table at most half full. */
static int grow_slots(struct json_keys *keys)
{
    if (keys->count * 2 < keys->slot_count)
        return 0;
    size_t wanted = keys->slot_count ? keys->slot_count * 2 : SLOTS_MIN;
    uint32_t *slots = calloc(wanted, sizeof *slots);
    if (!slots)
        return -1;
    if (keys->slot_count == 0)
        keys->seed = hash_seed(keys);
    free(keys->slots);
    keys->slots = slots;
    keys->slot_count = wanted;
    for (size_t i = 0; i < keys->count; i++)
        link_entry(keys, i);
    return 0;
}

static bool is_there(const struct json_keys *keys, const struct json_key_entry *wanted,
                     const char *key)
{
    for (uint32_t next = keys->slots[wanted->hash & (keys->slot_count - 1)]; next != 0;) {
        const struct json_key_entry *entry = &keys->entries[next - 1];
        if (entry->depth < wanted->depth)
            return false; /* the previous entries are keys of outer objects */
        if (entry->hash == wanted->hash && entry->size == wanted->size &&
            memcmp(keys->octets + entry->at, key, entry->size) == 0)
            return true;
        next = entry->before;
    }
    return false;
}

enum json_keys_result json_keys_add(struct json_keys *keys, uint32_t depth, const char *key,
                                    size_t size)
{
    if (grow_slots(keys) < 0)
        return JSON_KEYS_NO_MEMORY;
    struct json_key_entry entry = {
        .hash = hash_octets(keys->seed, key, size), .at = keys->size, .size = size, .depth = depth};
    if (is_there(keys, &entry, key))
        return JSON_KEYS_DUPLICATE;
    size_t used = keys->size + keys->count * (sizeof entry + 2 * sizeof *keys->slots);
    if (used > keys->bytes_max || size > keys->bytes_max - used || keys->count == UINT32_MAX - 1)
        return JSON_KEYS_FULL;
    struct json_key_entry *entries =
        grow_array(keys->entries, &keys->capacity, keys->count + 1, sizeof *entries);
    if (!entries)
        return JSON_KEYS_NO_MEMORY;
    keys->entries = entries;
    char *octets = grow_array(keys->octets, &keys->room, keys->size + size, 1);
    if (!octets)
        return JSON_KEYS_NO_MEMORY;
    keys->octets = octets;
    memcpy(octets + keys->size, key, size);
    keys->size += size;
    entries[keys->count] = entry;
    link_entry(keys, keys->count++);
    return JSON_KEYS_NEW;
}

void json_keys_leave(struct json_keys *keys, uint32_t depth)
{
    while (keys->count > 0 && keys->entries[keys->count - 1].depth >= depth) {
        const struct json_key_entry *entry = &keys->entries[--keys->count];
        keys->slots[entry->hash & (keys->slot_count - 1)] = entry->before;
        keys->size = entry->at;
    }
}

void json_keys_free(struct json_keys *keys)
{
    free(keys->entries);
    free(keys->octets);
    free(keys->slots);
}
