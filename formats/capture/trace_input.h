/* A file or pipe, read forward through one buffer, with look-ahead and skipping. For trace readers.
 */
#ifndef FORMATS_CAPTURE_TRACE_INPUT_H
#define FORMATS_CAPTURE_TRACE_INPUT_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_input;

/* Opens path, "-" for standard input (which is not closed). NULL and *error on failure. */
struct trace_input *trace_input_open(const char *path, struct bt_error *error);
void trace_input_close(struct trace_input *input);

/*
 * Reads until at least `wanted` bytes are available, or the file ends; reads at most `ahead` bytes
 * more (a hint; SIZE_MAX: fill the buffer). Waits for a pipe only until `wanted` bytes are
 * available. 0 or BT_IO.
 */
int trace_input_fill(struct trace_input *input, size_t wanted, size_t ahead,
                     struct bt_error *error);

/*
 * Reads until `wanted` bytes are available or the file ends; of a pipe, reads only what it holds,
 * without waiting. 0 or BT_IO.
 */
int trace_input_fill_present(struct trace_input *input, size_t wanted, struct bt_error *error);

/* The available bytes, valid until the next call of another function, and their number. */
const uint8_t *trace_input_bytes(const struct trace_input *input);
size_t trace_input_available(const struct trace_input *input);

/* Skips size available bytes. */
void trace_input_consume(struct trace_input *input, size_t size);

/* Skips size bytes, available or not; in a file without reading them. 0 or BT_IO. */
int trace_input_skip(struct trace_input *input, uint64_t size, struct bt_error *error);

/* Rewinds to the first byte. 0, or BT_USAGE for a pipe. */
int trace_input_rewind(struct trace_input *input, struct bt_error *error);

/* The offset of the next byte, and the file's size (0 for a pipe). */
uint64_t trace_input_offset(const struct trace_input *input);
uint64_t trace_input_size(const struct trace_input *input);

/* The name for messages: the path, or "standard input". */
const char *trace_input_name(const struct trace_input *input);

#endif
