/* The addresses of functions in a loaded program. */
#ifndef TOOLS_SYMBOLS_EXEC_SYMBOL_H
#define TOOLS_SYMBOLS_EXEC_SYMBOL_H

#include "capture/exec/memory/modules.h"

/* A code address as users write it: 0xADDRESS, FUNCTION, or FUNCTION+0xOFFSET. */
struct exec_symbol {
    const char *text; /* as given; NULL: no symbol */
    char *name;       /* the function; NULL: text is an address; owned by the symbol */
    uint64_t offset;  /* from the function's address */
    uint64_t address; /* 0: not known yet */
    uint64_t size;    /* size of the function, in bytes; 0: unknown */
    size_t looked;    /* number of modules searched */
    char *refused;    /* why a module's debug file was not searched; NULL: none was rejected; owned
                         by the symbol */
};

/* Parses text, which must outlive the symbol. 0, BT_USAGE or BT_MEMORY. Free with
 * exec_symbol_clear(). */
int exec_symbol_parse(struct exec_symbol *symbol, const char *text, struct bt_error *error);
void exec_symbol_clear(struct exec_symbol *symbol);

/* Searches the modules added since the last call. Returns whether the address is known. */
bool exec_symbol_look(struct exec_symbol *symbol, const struct modules *modules);

#endif
