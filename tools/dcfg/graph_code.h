/*
 * The code that a graph's blocks were executed from: read from the files that the graph names, or
 * that the user gives.
 */
#ifndef TOOLS_DCFG_GRAPH_CODE_H
#define TOOLS_DCFG_GRAPH_CODE_H

#include "formats/dcfg/dcfg.h"

#include <stddef.h>

/* Files that users give with --image. */
#define GRAPH_CODE_FILES 64u
struct graph_code_files {
    const char *at[GRAPH_CODE_FILES];
    size_t count;
};

#define GRAPH_CODE_IMAGE_ROW(type, member)                                                         \
    {                                                                                              \
        OPTION_CALL, 0, "image", "ELF[@LOAD]",                                                     \
            "read code from this file, not from the one that the graph names; may repeat",         \
            offsetof(type, member), graph_code_files_add                                           \
    }

/* Adds an argument of --image to a struct graph_code_files. 0, or BT_USAGE: too many. */
int graph_code_files_add(void *files, const char *argument, struct bt_error *error);

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
