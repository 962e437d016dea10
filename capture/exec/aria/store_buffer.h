/*
 * The stores of a not-taken path, byte by byte: its loads read them instead of memory. A load may
 * overlap any number of stores.
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

/* Empties it, in time proportional to the number of 64-byte lines in it. */
void store_buffer_clear(struct store_buffer *buffer);

/* Copies *from into *to. */
void store_buffer_assign(struct store_buffer *to, const struct store_buffer *from);

void store_buffer_put(struct store_buffer *buffer, uint64_t address, const void *from, size_t size);

/* Overwrites the bytes at `to`, a copy of memory, with those that were stored. */
void store_buffer_get(const struct store_buffer *buffer, void *to, uint64_t address, size_t size);

/* Whether one of the bytes was stored. */
bool store_buffer_holds(const struct store_buffer *buffer, uint64_t address, size_t size);

/* Whether a put or an assign has failed for lack of memory since the last clear or assign: the
 * buffer is incomplete. */
bool store_buffer_failed(const struct store_buffer *buffer);

#endif
