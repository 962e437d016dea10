/* Image, symbol and source line of locations in a graph. */
#ifndef TOOLS_DCFG_GRAPH_NAMES_H
#define TOOLS_DCFG_GRAPH_NAMES_H

#include "formats/dcfg/dcfg.h"

struct names;

struct code_location {
    const char *image;      /* file name; NULL: unknown */
    uint64_t image_offset;  /* from its load address */
    uint64_t address;       /* in memory */
    const char *symbol;     /* NULL: no symbol covers the location */
    uint64_t symbol_offset; /* from the symbol's start */
    const char *file;       /* source file; NULL: unknown */
    uint32_t file_number;   /* index in graph->file_names; DCFG_NONE: unknown */
    uint32_t line;
    uint64_t line_end; /* offset in the image up to which the line is the same */
};

/* Indexes the names of a process of a sealed graph, which must outlive them. NULL and *error
 * without memory. */
struct names *names_new(const struct dcfg_process *process, struct bt_error *error);
void names_free(struct names *names);

/* The location at an offset in an image (an index of process->images). Of several covering symbols
 * or lines, the one that begins last is taken. */
void names_at(const struct names *names, uint32_t image, uint64_t offset,
              struct code_location *location);

/* The location of a block's start (an index of process->blocks). */
void names_of_block(const struct names *names, uint32_t block, struct code_location *location);

/* The location of a routine's entry (an index of process->routines). */
void names_of_routine(const struct names *names, uint32_t routine, struct code_location *location);

#endif
