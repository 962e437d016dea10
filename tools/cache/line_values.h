/* A map from line addresses to values of a fixed size. */
#ifndef TOOLS_CACHE_LINE_VALUES_H
#define TOOLS_CACHE_LINE_VALUES_H

#include <stddef.h>
#include <stdint.h>

struct line_values {
    size_t value_bytes;
    size_t capacity; /* power of two, or 0 */
    size_t count;
    uint64_t *keys; /* address + 1; 0: empty */
    unsigned char *values;
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
