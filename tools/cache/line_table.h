/* A map from the addresses of lines to fixed-size values. */
#ifndef TOOLS_CACHE_LINE_TABLE_H
#define TOOLS_CACHE_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct line_table {
    size_t value_bytes;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t *keys; /* address + 1; 0: empty */
    unsigned char *values;
};

/* The value of a line, NULL where there is none. Good until the next line_table_add or _remove. */
void *line_table_find(const struct line_table *map, uint32_t address);

/* The same, added as zero where there was none; NULL: no memory. */
void *line_table_add(struct line_table *map, uint32_t address);

/* Takes a line out, if it is there. */
void line_table_remove(struct line_table *map, uint32_t address);

/* Frees what it holds. */
void line_table_clear(struct line_table *map);

#endif
