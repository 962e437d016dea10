/* Symbols and source lines of a capture's addresses, from ELF files: those that the user names, or
 * those that a list of modules names, which `bustap exec` writes beside its captures. */
#ifndef TOOLS_SYMBOLS_ADDRESS_NAMES_H
#define TOOLS_SYMBOLS_ADDRESS_NAMES_H

#include "formats/base/error.h"

#include <stdint.h>
#include <stdio.h>

struct address_names;

struct address_name {
    const char *symbol;     /* NULL: no symbol covers the address */
    uint64_t symbol_offset; /* from the symbol's start */
    const char *file;       /* source file; NULL: unknown, always so for data */
    uint32_t line;
};

/* Reads images given as "ELF" or "ELF@LOAD" (tools/symbols/image.h), and those of a list
 * (tools/symbols/image_list.h); NULL: none. 0 or a negative code. */
int address_names_new(struct address_names **names, const char *const *images, unsigned count,
                      const char *list, struct bt_error *error);
void address_names_free(struct address_names *names);

/* The list of modules that is beside a file of a capture: its prefix and ".modules". NULL: there is
 * none, or no memory. The caller frees it. */
char *address_names_list_beside(const char *capture);

/* Prints one line for each debug file that is not used, with the reason. names may be NULL. */
void address_names_print_refused(const struct address_names *names, FILE *out);

/* Fills *name for an address. Data has a symbol only. With names NULL nothing is known. */
void address_names_find(const struct address_names *names, uint64_t address,
                        struct address_name *name);

#endif
