/* The set of a line: doc/cache-model.md, "Sets". */
#ifndef TOOLS_CACHE_MODEL_SET_INDEX_H
#define TOOLS_CACHE_MODEL_SET_INDEX_H

#include "formats/base/power.h"

#include <stdbool.h>
#include <stdint.h>

struct set_index {
    uint32_t sets;
    unsigned fold; /* bits that a hash folds a line's number into; 0: no hash */
};

/* hashed: the bits of a line's number are folded (xor). */
static inline struct set_index set_index_make(uint32_t sets, bool hashed)
{
    struct set_index index = {.sets = sets};
    for (uint32_t last = sets - 1; hashed && last > 0; last >>= 1)
        index.fold++;
    return index;
}

/* Whether the set is the low bits of the line's number. */
static inline bool set_index_is_mask(const struct set_index *index)
{
    return index->fold == 0 && power_is(index->sets);
}

/* The set of the line with that number. */
static inline uint32_t set_index_of(const struct set_index *index, uint32_t line)
{
    uint32_t number = line;
    if (index->fold > 0)
        for (uint32_t rest = line >> index->fold; rest > 0; rest >>= index->fold)
            number ^= rest;
    return number % index->sets;
}

#endif
