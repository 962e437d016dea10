/* The addresses of functions in a loaded program. */
#ifndef TOOLS_SYMBOLS_EXEC_SYMBOL_H
#define TOOLS_SYMBOLS_EXEC_SYMBOL_H

#include "capture/exec/memory/modules.h"

/* A code address as users write it: 0xADDRESS, FUNCTION, or FUNCTION+0xOFFSET. */
struct exec_symbol {
    const char *text; /* as given; NULL: no place */
    char *name;       /* NULL: address is the place; freed with the symbol */
    uint64_t offset;  /* from the function's address */
    uint64_t address; /* 0: not known yet */
    uint64_t size;    /* of the function, in bytes; 0: not known */
    size_t looked;    /* number of modules searched */
    char *refused;    /* why the debug file of one of them was not searched; NULL: none; freed with
                         the symbol */
};

/* 0, or BT_USAGE. Free with exec_symbol_clear(). */
int exec_symbol_parse(struct exec_symbol *symbol, const char *text, struct bt_error *error);
void exec_symbol_clear(struct exec_symbol *symbol);

/* Searches the modules added since the last call. Returns whether the address is known. */
bool exec_symbol_look(struct exec_symbol *symbol, const struct modules *modules);

#endif
