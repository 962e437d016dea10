/* What addresses of a program that was run are called: symbol, source line, file. */
#ifndef TOOLS_RONDO_CODE_NAMES_H
#define TOOLS_RONDO_CODE_NAMES_H

#include "capture/exec/modules.h"

struct code_names;

struct code_name {
    const char *module; /* the file's name without its folders; NULL: the code is from none */
    uint64_t offset;    /* from its load address */
    const char *symbol; /* NULL: none covers it */
    uint64_t symbol_offset;
    const char *file; /* of the source; NULL: not known */
    uint32_t line;
};

/* The modules must outlive it. Files that cannot be read have no names. NULL and *error without
 * memory. */
struct code_names *code_names_new(const struct modules *modules, struct bt_error *error);
void code_names_free(struct code_names *names);

/* Names are read when the first address of a file is asked for. */
void code_names_at(struct code_names *names, uint64_t address, struct code_name *place);

#endif
