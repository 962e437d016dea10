/* What the addresses of a capture are called, where programs are given: symbols, source lines. */
#ifndef TOOLS_CACHE_ADDRESS_NAMES_H
#define TOOLS_CACHE_ADDRESS_NAMES_H

#include "formats/base/error.h"

#include <stdint.h>
#include <stdio.h>

struct address_names;

struct address_name {
    const char *symbol;     /* NULL: none covers it */
    uint64_t symbol_offset; /* from its start */
    const char *file;       /* of the source; NULL: not known, as for data */
    uint32_t line;
};

/* From specifications "ELF" or "ELF@LOAD" (tools/symbols/image.h). 0 or a negative code. */
int address_names_new(struct address_names **names, const char *const *images, unsigned count,
                      struct bt_error *error);
void address_names_free(struct address_names *names);

/* Prints why debug files are not used, a line each; names NULL: nothing. */
void address_names_print_refused(const struct address_names *names, FILE *out);

/* What is at an address; names NULL: nothing. Of data only the symbol is known. */
void address_names_find(const struct address_names *names, uint64_t address,
                        struct address_name *name);

#endif
