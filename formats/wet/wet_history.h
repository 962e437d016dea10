/*
 * The dynamic dependences of a limited history as text (WET Trace Format, "Dynamic Dependences for
 * a Limited Execution History"): a line for each dependence,
 *
 *     0xa#b --> 0xx#y
 *
 * Instance b of the instruction at address a depends upon instance y of that at x.
 */
#ifndef FORMATS_WET_WET_HISTORY_H
#define FORMATS_WET_WET_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WET_HISTORY_BYTES 96u /* room for a line; the longest has 85 */

struct wet_history_place {
    uint64_t address, instance;
};

struct wet_history_line {
    struct wet_history_place reader, writer;
};

/* Writes a line with its newline at out, where there must be room for WET_HISTORY_BYTES. Returns
 * the end of what it wrote. */
char *wet_history_put(char *out, const struct wet_history_line *line);

/* Reads a line without its newline. False: it is no such line, exactly as it is written. */
bool wet_history_get(const char *text, size_t size, struct wet_history_line *line);

#endif
