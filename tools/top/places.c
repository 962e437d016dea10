#include "tools/top/places.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <stdlib.h>

#define RECENT (1u << 14) /* addresses whose places are remembered */
#define STEP   4u         /* bytes between the addresses that places_name tries */
#define TRIES  1024u

/* A symbol, by its address; or a source line, by its file. */
struct named {
    const char *text;
    uint64_t number;
};

struct named_list {
    struct named *items;
    size_t count, capacity;
    struct hash_index index;
};

struct recent {
    uint32_t address;
    bool known;
    struct place place;
};

struct places {
    struct address_names *names;
    struct named_list symbols, sources;
    struct recent recent[RECENT];
};

int places_new(struct places **places, const struct module_settings *settings,
               const struct module_captures *captures, struct bt_error *error)
{
    *places = calloc(1, sizeof **places);
    if (!*places)
        return bt_fail(error, BT_MEMORY, "no memory for names of addresses");
    int result = address_names_new(&(*places)->names, settings, captures, error);
    if (result < 0 || !(*places)->names) {
        places_free(*places);
        *places = NULL;
    }
    return result;
}

void places_free(struct places *places)
{
    if (!places)
        return;
    address_names_free(places->names);
    free(places->symbols.items);
    free(places->sources.items);
    hash_index_clear(&places->symbols.index);
    hash_index_clear(&places->sources.index);
    free(places);
}

void places_print_refused(const struct places *places, FILE *out)
{
    address_names_print_refused(places->names, out);
}

/* 1 + the position of the item, which is added if it is new; PLACES_UNKNOWN without memory. */
static uint32_t number_of(struct named_list *list, const char *text, uint64_t number)
{
    const uint32_t hash = hash_pair((uintptr_t)text, number);
    struct hash_search search = hash_search(&list->index, hash);
    while (hash_search_next(&search))
        if (list->items[search.number].text == text && list->items[search.number].number == number)
            return search.number + 1;
    if (list->count + 1 >= 1u << PLACES_BITS)
        return PLACES_UNKNOWN;
    struct named *items = grow_array(list->items, &list->capacity, list->count + 1, sizeof *items);
    if (!items)
        return PLACES_UNKNOWN;
    list->items = items;
    if (hash_index_add(&list->index, hash, (uint32_t)list->count) < 0)
        return PLACES_UNKNOWN;
    list->items[list->count++] = (struct named){.text = text, .number = number};
    return (uint32_t)list->count;
}

struct place places_find(struct places *places, uint32_t address)
{
    struct recent *recent = &places->recent[hash_number(address) % RECENT];
    if (recent->known && recent->address == address)
        return recent->place;
    struct address_name name;
    struct place place = {PLACES_UNKNOWN, PLACES_UNKNOWN};
    address_names_find(places->names, address, &name);
    if (name.symbol)
        place.symbol = number_of(&places->symbols, name.symbol, address - name.symbol_offset);
    if (name.file)
        place.source = number_of(&places->sources, name.file, name.line);
    *recent = (struct recent){.address = address, .known = true, .place = place};
    return place;
}

const char *places_symbol(const struct places *places, uint32_t symbol)
{
    return symbol == PLACES_UNKNOWN ? NULL : places->symbols.items[symbol - 1].text;
}

const char *places_source(const struct places *places, uint32_t source, uint32_t *line)
{
    if (source == PLACES_UNKNOWN)
        return NULL;
    *line = (uint32_t)places->sources.items[source - 1].number;
    return places->sources.items[source - 1].text;
}

void places_name(const struct places *places, uint32_t address, uint64_t bytes,
                 struct address_name *name)
{
    uint64_t offset = 0;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        address_names_find(places->names, (uint64_t)address + offset, name);
        offset += STEP;
        if (name->symbol || offset >= bytes)
            return;
    }
}
