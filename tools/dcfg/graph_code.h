/*
 * The code that a graph's blocks were executed from: read from the files that the graph names, or
 * that the user gives.
 */
#ifndef TOOLS_DCFG_GRAPH_CODE_H
#define TOOLS_DCFG_GRAPH_CODE_H

#include "formats/dcfg/dcfg.h"

#include <stddef.h>

struct graph_code;

/*
 * Reads the code of a process of a sealed graph, which must outlive it. Each of the count files is
 * "FILE", which takes the place of the image with this file name, or "FILE@ADDRESS", code at an
 * address. A file that the graph names and that cannot be read leaves its image without code, see
 * graph_code_missing(). NULL and *error: BT_MEMORY, or, for a given file, as images_add().
 */
struct graph_code *graph_code_new(const struct dcfg_process *process, const char *const *files,
                                  size_t count, struct bt_error *error);
void graph_code_free(struct graph_code *code);

/* The *size contiguous bytes of code at an offset in an image (an index of process->images), and
 * whether they are for 32 or 64 bits; NULL: no code is known. */
const uint8_t *graph_code_at(const struct graph_code *code, uint32_t image, uint64_t offset,
                             size_t *size, unsigned *bits);

/* Why the file that the graph names for an image cannot be read: a sentence; NULL: it can, or the
 * graph names none. */
const char *graph_code_missing(const struct graph_code *code, uint32_t image);

#endif
