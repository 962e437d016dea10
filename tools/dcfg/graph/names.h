/* What places of a graph are called: image, symbol, source line. */
#ifndef TOOLS_DCFG_GRAPH_NAMES_H
#define TOOLS_DCFG_GRAPH_NAMES_H

#include "formats/dcfg/dcfg.h"

struct names;

struct code_location {
    const char *image;      /* its file's name; NULL: it has none */
    uint64_t image_offset;  /* from its load address */
    uint64_t address;       /* in memory */
    const char *symbol;     /* NULL: none covers it */
    uint64_t symbol_offset; /* from the symbol's start */
    const char *file;       /* of the source; NULL: not known */
    uint32_t file_number;   /* in graph->file_names, DCFG_NONE if it is not known */
    uint32_t line;
    uint64_t line_end; /* the offset in the image behind which it may be another line */
};

/* Makes the names of a process of a sealed graph, which must outlive them. NULL and *error without
 * memory. */
struct names *names_new(const struct dcfg_process *process, struct bt_error *error);
void names_free(struct names *names);

/* What is at an offset in an image (a number in process->images). Of several symbols or lines that
 * cover it, the one that begins last. */
void names_at(const struct names *names, uint32_t image, uint64_t offset,
              struct code_location *location);

/* What is at the start of a block (a number in process->blocks). */
void names_of_block(const struct names *names, uint32_t block, struct code_location *location);

/* What is at a routine's entry (a number in process->routines). */
void names_of_routine(const struct names *names, uint32_t routine, struct code_location *location);

#endif
