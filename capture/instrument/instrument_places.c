#include "capture/instrument/instrument_places.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"
#include "formats/dependences/dependence_trace.h"

#include <string.h>

static bool is_place(const struct instrument_place *place, const char *file, int line,
                     uint64_t code)
{
    return place->line == line && place->code == code &&
           (place->file == file || (place->file && file && strcmp(place->file, file) == 0));
}

static uint32_t find_or_add(struct instrument_places *places, const char *file, int line,
                            uint64_t code)
{
    const uint64_t octets = file ? hash_octets(0, file, strlen(file)) : 0;
    const uint32_t hash = hash_pair(octets ^ code, (uint64_t)(unsigned)line);
    struct hash_search search = hash_search(&places->by_key, hash);
    while (hash_search_next(&search))
        if (is_place(&places->places[search.number], file, line, code))
            return search.number;
    if (places->count >= DEPENDENCES_NONE)
        return DEPENDENCES_NONE;
    struct instrument_place *larger =
        grow_array(places->places, &places->capacity, places->count + 1, sizeof *larger);
    if (!larger)
        return DEPENDENCES_NONE;
    places->places = larger;
    if (hash_index_add(&places->by_key, hash, (uint32_t)places->count) < 0)
        return DEPENDENCES_NONE;
    larger[places->count] = (struct instrument_place){.file = file, .line = line, .code = code};
    return (uint32_t)places->count++;
}

uint32_t instrument_places_line(struct instrument_places *places, const char *file, int line)
{
    return find_or_add(places, file, line, 0);
}

uint32_t instrument_places_code(struct instrument_places *places, uint64_t code)
{
    return find_or_add(places, NULL, 0, code);
}

struct dependence_place instrument_places_describe(struct instrument_places *places,
                                                   uint32_t number)
{
    struct instrument_place *place = &places->places[number];
    struct dependence_place described = {.file = place->file,
                                         .line = place->line > 0 ? (uint32_t)place->line : 0,
                                         .offset = DEPENDENCES_UNKNOWN,
                                         .address = DEPENDENCES_UNKNOWN};
    if (place->code == 0)
        return described;
    if (place->resolved)
        return *place->resolved;
    code_lines_find(&places->lines, place->code, &described);
    place->resolved = malloc(sizeof *place->resolved);
    if (place->resolved)
        *place->resolved = described;
    return described;
}

const char *instrument_places_token(struct instrument_places *places, uint32_t number)
{
    char token[DEPENDENCE_TOKEN_BYTES];
    if (number == DEPENDENCES_NONE)
        return "?:0";
    if (!places->places[number].token) {
        const struct dependence_place described = instrument_places_describe(places, number);
        const size_t size = strlen(dependence_trace_place(&described, token)) + 1;
        char *copy = malloc(size);
        if (copy)
            memcpy(copy, token, size);
        places->places[number].token = copy;
    }
    return places->places[number].token;
}
