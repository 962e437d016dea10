/* Output in large pieces, for commands that print millions of lines. */
#ifndef TOOLS_COMMON_OUTPUT_H
#define TOOLS_COMMON_OUTPUT_H

#include "formats/base/error.h"

#include <stddef.h>

struct output;

/* Output to a file descriptor, which the caller closes; name is for messages. NULL: no memory. */
struct output *output_new(int file, const char *name, struct bt_error *error);
void output_free(struct output *output);

/*
 * Room for size bytes (at most OUTPUT_RESERVE_MAX); writes pending output first if necessary.
 * NULL and *error on failure. BT_CLOSED means that the reader has closed its end, which commands do
 * not report.
 */
#define OUTPUT_RESERVE_MAX (256u << 10)
char *output_reserve(struct output *output, size_t size, struct bt_error *error);

/* Adds `size` of the reserved bytes to the output. */
void output_filled(struct output *output, size_t size);

/* Writes pending output. 0 or a negative code, as above. */
int output_flush(struct output *output, struct bt_error *error);

#endif
