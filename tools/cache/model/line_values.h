/* A map from line addresses to values of a fixed size. */
#ifndef TOOLS_CACHE_MODEL_LINE_VALUES_H
#define TOOLS_CACHE_MODEL_LINE_VALUES_H

#include "formats/base/hash_index.h"

/* Must be zeroed before first use, except value_bytes. */
struct line_values {
    size_t value_bytes;
    size_t count;
    uint32_t *addresses;   /* count elements */
    unsigned char *values; /* count elements of value_bytes */
    size_t address_capacity, value_capacity;
    struct hash_index by_address;
};

/* The value of a line, or NULL. Valid until the next line_values_add or line_values_remove. */
void *line_values_find(const struct line_values *map, uint32_t address);

/* The value of a line, inserted as zeros if missing. NULL: out of memory. */
void *line_values_add(struct line_values *map, uint32_t address);

/* Removes a line if present. */
void line_values_remove(struct line_values *map, uint32_t address);

/* Frees the contents. */
void line_values_clear(struct line_values *map);

#endif
