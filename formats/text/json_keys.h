/*
 * The keys of a JSON object and of those around it, to find duplicates. Objects nest: the innermost
 * object's keys are the last ones, and are removed when it ends. A key costs its octets and about
 * 40 bytes, and constant time.
 */
#ifndef FORMATS_TEXT_JSON_KEYS_H
#define FORMATS_TEXT_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_key_entry;

/* Must be zeroed before first use, except bytes_max; everything else in it is private. */
struct json_keys {
    struct json_key_entry *entries;
    size_t count, capacity;
    char *octets; /* all keys, concatenated */
    size_t size, room;
    uint32_t *slots; /* hash table: 1 + the last entry in a slot, 0 if none */
    size_t slot_count;
    uint64_t seed;
    size_t bytes_max; /* limit of memory for the keys */
};

enum json_keys_result { JSON_KEYS_NEW, JSON_KEYS_DUPLICATE, JSON_KEYS_FULL, JSON_KEYS_NO_MEMORY };

/* Adds a key of the innermost object, at this depth. DUPLICATE: the object has it; FULL: needs more
 * than bytes_max. */
enum json_keys_result json_keys_add(struct json_keys *keys, uint32_t depth, const char *key,
                                    size_t size);

/* Removes the keys of the object at this depth, which has ended. */
void json_keys_leave(struct json_keys *keys, uint32_t depth);

void json_keys_free(struct json_keys *keys);

#endif
