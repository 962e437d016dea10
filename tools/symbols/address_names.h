/* Symbols and source lines of a capture's addresses. */
#ifndef TOOLS_SYMBOLS_ADDRESS_NAMES_H
#define TOOLS_SYMBOLS_ADDRESS_NAMES_H

#include "tools/symbols/module_lists.h"

#include <stdint.h>
#include <stdio.h>

struct address_names;

struct address_name {
    const char *symbol;     /* NULL: no symbol covers the address */
    uint64_t symbol_offset; /* from the symbol's start */
    const char *file;       /* source file; NULL: unknown, always so for data */
    uint32_t line;
};

/* Reads the names of the programs that a command knows; *names becomes NULL if it knows none. 0 or
 * a negative code. */
int address_names_new(struct address_names **names, const struct module_settings *settings,
                      const struct module_captures *captures, struct bt_error *error);
void address_names_free(struct address_names *names);

/* Prints one line for each debug file that is not used, with the reason. names may be NULL. */
void address_names_print_refused(const struct address_names *names, FILE *out);

/* Fills *name for an address. Data has a symbol only. With names NULL nothing is known. */
void address_names_find(const struct address_names *names, uint64_t address,
                        struct address_name *name);

#endif
