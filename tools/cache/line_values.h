/* A map from the addresses of lines to fixed-size values. */
#ifndef TOOLS_CACHE_LINE_VALUES_H
#define TOOLS_CACHE_LINE_VALUES_H

#include <stddef.h>
#include <stdint.h>

struct line_values {
    size_t value_bytes;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t *keys; /* address + 1; 0: empty */
    unsigned char *values;
};

/* The value of a line, NULL where there is none. Good until the next line_values_add or _remove. */
void *line_values_find(const struct line_values *map, uint32_t address);

/* The same, added as zero where there was none; NULL: no memory. */
void *line_values_add(struct line_values *map, uint32_t address);

/* Takes a line out, if it is there. */
void line_values_remove(struct line_values *map, uint32_t address);

/* Frees what it holds. */
void line_values_clear(struct line_values *map);

#endif
