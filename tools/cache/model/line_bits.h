/* A bit for each line, or each sub-block, of the address space. Neighbours are side by side, so
 * that a search among them stays in the processor's caches; pages without bits take no memory. */
#ifndef TOOLS_CACHE_MODEL_LINE_BITS_H
#define TOOLS_CACHE_MODEL_LINE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Must be zeroed before first use; private. */
struct line_bits {
    uint64_t **pages; /* NULL: no bit of it is set */
    size_t page_count;
};

/* Makes bits for the numbers address >> shift, none of them set. 0, or -1 without memory. */
int line_bits_make(struct line_bits *bits, unsigned shift);

/* Frees the contents. */
void line_bits_clear(struct line_bits *bits);

bool line_bits_get(const struct line_bits *bits, uint32_t number);

/* Sets a bit. 1: it was set before; 0: it was not; -1: no memory. */
int line_bits_set(struct line_bits *bits, uint32_t number);

void line_bits_reset(struct line_bits *bits, uint32_t number);

/* The first bit set from *number on, to *number. False: there is none. */
bool line_bits_next(const struct line_bits *bits, uint64_t *number);

#endif
