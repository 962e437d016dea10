/*
 * What a path that is not taken has stored: bytes by their addresses, which its loads find before
 * memory. Loads may overlap any number of stores in any way.
 */
#ifndef CAPTURE_EXEC_ARIA_STORE_BUFFER_H
#define CAPTURE_EXEC_ARIA_STORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_buffer;

/* Empty. NULL: no memory. */
struct store_buffer *store_buffer_new(void);
void store_buffer_free(struct store_buffer *buffer);

/* Empties it; takes as long as there are lines of 64 bytes in it. */
void store_buffer_clear(struct store_buffer *buffer);

/* Makes *to the same as *from. */
void store_buffer_assign(struct store_buffer *to, const struct store_buffer *from);

void store_buffer_put(struct store_buffer *buffer, uint64_t address, const void *from, size_t size);

/* Puts the bytes that were stored over those at `to`, which are as memory has them. */
void store_buffer_get(const struct store_buffer *buffer, void *to, uint64_t address, size_t size);

/* Whether one of the bytes was stored. */
bool store_buffer_holds(const struct store_buffer *buffer, uint64_t address, size_t size);

/* Whether a put or an assign found no memory since the buffer was cleared or assigned to: then not
 * all is in it. */
bool store_buffer_failed(const struct store_buffer *buffer);

#endif
