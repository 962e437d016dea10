#include "formats/dcfg/edge_dictionary.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"
#include "formats/base/hash_index.h"

#include <stdio.h>
#include <string.h>

enum entry_state { ADDED, WAITING, COMPILED };

struct dictionary_entry {
    char *key; /* key_length octets and a 0, then the text, which is dropped once compiled */
    size_t key_length;
    size_t text_length;
    struct edge_list list;
    enum entry_state state;
};

/* Memory of an entry with its slots in the index, without its key and text. */
#define ENTRY_BYTES (sizeof(struct dictionary_entry) + 4 * sizeof(size_t))

/* An entry that waits for the entries it refers to, with the offset of its next reference. */
struct visit {
    size_t entry;
    size_t at;
};

struct edge_dictionary {
    struct dictionary_entry *entries;
    size_t count, capacity;
    size_t finished; /* entries before this one belong to earlier processes */
    struct hash_index by_key;
    uint64_t seed;
    size_t bytes, bytes_max;
    struct edge_nodes nodes;
    struct visit *visits;
    size_t visit_count, visit_capacity;
};

struct edge_dictionary *edge_dictionary_new(size_t bytes_max)
{
    struct edge_dictionary *dictionary = calloc(1, sizeof *dictionary);
    if (dictionary) {
        dictionary->seed = hash_seed(dictionary);
        dictionary->bytes_max = bytes_max;
        dictionary->nodes.bytes_max = edge_text_memory(bytes_max);
    }
    return dictionary;
}

void edge_dictionary_free(struct edge_dictionary *dictionary)
{
    if (!dictionary)
        return;
    for (size_t i = 0; i < dictionary->count; i++)
        free(dictionary->entries[i].key);
    free(dictionary->entries);
    hash_index_clear(&dictionary->by_key);
    free(dictionary->visits);
    edge_nodes_free(&dictionary->nodes);
    free(dictionary);
}

static uint32_t hash_of(const struct edge_dictionary *dictionary, const char *key, size_t length)
{
    return (uint32_t)(hash_octets(dictionary->seed, key, length) >> 32);
}

/* 1 + the entry with a key; 0: none. */
static size_t find(const struct edge_dictionary *dictionary, uint32_t hash, const char *key,
                   size_t length)
{
    struct hash_search search = hash_search(&dictionary->by_key, hash);
    while (hash_search_next(&search)) {
        const struct dictionary_entry *entry = &dictionary->entries[search.number];
        if (entry->key_length == length && memcmp(entry->key, key, length) == 0)
            return (size_t)search.number + 1;
    }
    return 0;
}

static int no_memory(struct bt_error *error)
{
    return bt_fail(error, BT_MEMORY, "no memory for the STRING_DICTIONARY");
}

/* A key as shown in messages. */
static const char *show(char shown[40], const struct dictionary_entry *entry)
{
    snprintf(shown, 40, "%.36s", entry->key);
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    return shown;
}

static int check_addition(const struct edge_dictionary *dictionary,
                          const struct dictionary_entry *entry, size_t present,
                          struct bt_error *error)
{
    char shown[40];
    if (present > dictionary->finished)
        return bt_fail(error, BT_DATA, "duplicate key \"%s\"",
                       show(shown, &dictionary->entries[present - 1]));
    size_t left = dictionary->bytes_max - dictionary->bytes;
    if (left < ENTRY_BYTES || entry->text_length > left - ENTRY_BYTES ||
        entry->key_length > left - ENTRY_BYTES - entry->text_length)
        return bt_fail(error, BT_DATA, "a STRING_DICTIONARY of more than %zu octets",
                       dictionary->bytes_max);
    if (entry->key_length > EDGE_TEXT_KEY_MAX)
        return bt_fail(error, BT_DATA, "a key of %zu characters; %u are allowed", entry->key_length,
                       EDGE_TEXT_KEY_MAX);
    return 0;
}

int edge_dictionary_add(struct edge_dictionary *dictionary, const char *key, size_t key_length,
                        const char *text, size_t length, struct bt_error *error)
{
    struct dictionary_entry entry = {
        .key_length = key_length, .text_length = length, .state = ADDED};
    const uint32_t hash = hash_of(dictionary, key, key_length);
    const size_t present = find(dictionary, hash, key, key_length);
    int result = check_addition(dictionary, &entry, present, error);
    if (result < 0)
        return result;
    if (dictionary->count >= HASH_INDEX_NUMBER_MAX || hash_index_reserve(&dictionary->by_key, 1))
        return no_memory(error);
    struct dictionary_entry *grown = grow_array(dictionary->entries, &dictionary->capacity,
                                                dictionary->count + 1, sizeof *grown);
    if (!grown)
        return no_memory(error);
    dictionary->entries = grown;
    entry.key = malloc(key_length + length + 1);
    if (!entry.key)
        return no_memory(error);
    memcpy(entry.key, key, key_length);
    entry.key[key_length] = '\0';
    memcpy(entry.key + key_length + 1, text, length);
    const uint32_t number = (uint32_t)dictionary->count++;
    grown[number] = entry;
    dictionary->bytes += ENTRY_BYTES + key_length + length;
    if (present != 0) /* replaces the earlier one */
        hash_index_renumber(&dictionary->by_key, hash, (uint32_t)present - 1, number);
    else
        hash_index_add(&dictionary->by_key, hash, number);
    return 0;
}

const struct edge_list *edge_dictionary_find(const struct edge_dictionary *dictionary,
                                             const char *key, size_t key_length)
{
    if (!dictionary)
        return NULL;
    size_t present = find(dictionary, hash_of(dictionary, key, key_length), key, key_length);
    if (present == 0 || dictionary->entries[present - 1].state != COMPILED)
        return NULL;
    return &dictionary->entries[present - 1].list;
}

const struct edge_nodes *edge_dictionary_nodes(const struct edge_dictionary *dictionary)
{
    return dictionary ? &dictionary->nodes : NULL;
}

static int push_visit(struct edge_dictionary *dictionary, size_t entry)
{
    struct visit *grown = grow_array(dictionary->visits, &dictionary->visit_capacity,
                                     dictionary->visit_count + 1, sizeof *grown);
    if (!grown)
        return -1;
    dictionary->visits = grown;
    grown[dictionary->visit_count++] = (struct visit){.entry = entry, .at = 0};
    dictionary->entries[entry].state = WAITING;
    return 0;
}

/* The first uncompiled entry found in an entry's references. */
struct reference_search {
    const struct edge_dictionary *dictionary;
    size_t entry; /* 1 + the entry, 0: none */
    size_t at;
};

static int find_uncompiled(void *context, const char *key, size_t key_length, size_t at)
{
    struct reference_search *search = context;
    const struct edge_dictionary *dictionary = search->dictionary;
    size_t present = find(dictionary, hash_of(dictionary, key, key_length), key, key_length);
    if (present == 0 || dictionary->entries[present - 1].state == COMPILED)
        return 0; /* a missing key is reported when the entry is compiled */
    search->entry = present;
    search->at = at;
    return 1;
}

static int compile(struct edge_dictionary *dictionary, struct dictionary_entry *entry,
                   struct bt_error *error)
{
    char shown[40];
    int result = edge_text_compile(&dictionary->nodes, &entry->list, dictionary,
                                   entry->key + entry->key_length + 1, entry->text_length, error);
    if (result < 0) {
        bt_fail_within(error, "STRING_DICTIONARY, \"%s\"", show(shown, entry));
        return result;
    }
    entry->state = COMPILED;
    char *shrunk = realloc(entry->key, entry->key_length + 1);
    if (shrunk)
        entry->key = shrunk;
    return 0;
}

/* Compiles an entry after all entries that it refers to, depth first. */
static int compile_with_references(struct edge_dictionary *dictionary, size_t first,
                                   struct bt_error *error)
{
    char shown[40];
    if (push_visit(dictionary, first) < 0)
        return no_memory(error);
    while (dictionary->visit_count > 0) {
        struct visit *visit = &dictionary->visits[dictionary->visit_count - 1];
        struct dictionary_entry *entry = &dictionary->entries[visit->entry];
        struct reference_search search = {.dictionary = dictionary};
        edge_text_references(entry->key + entry->key_length + 1 + visit->at,
                             entry->text_length - visit->at, find_uncompiled, &search);
        if (search.entry == 0) {
            int result = compile(dictionary, entry, error);
            if (result < 0)
                return result;
            dictionary->visit_count--;
            continue;
        }
        visit->at += search.at;
        if (dictionary->entries[search.entry - 1].state == WAITING)
            return bt_fail(error, BT_DATA,
                           "STRING_DICTIONARY, \"%s\", character %zu: a circular reference",
                           show(shown, entry), visit->at + 1);
        if (push_visit(dictionary, search.entry - 1) < 0)
            return no_memory(error);
    }
    return 0;
}

int edge_dictionary_finish(struct edge_dictionary *dictionary, struct bt_error *error)
{
    for (size_t i = dictionary->finished; i < dictionary->count; i++) {
        if (dictionary->entries[i].state == COMPILED)
            continue;
        int result = compile_with_references(dictionary, i, error);
        if (result < 0)
            return result;
    }
    dictionary->finished = dictionary->count;
    return 0;
}
