/* Where the functions of a program that is loaded are. */
#ifndef TOOLS_SYMBOLS_EXEC_SYMBOL_H
#define TOOLS_SYMBOLS_EXEC_SYMBOL_H

#include "capture/exec/memory/modules.h"

/* What a user calls a place of the program: 0xADDRESS, FUNCTION, or FUNCTION+0xOFFSET. */
struct exec_symbol {
    const char *text; /* as given; NULL: no place */
    char *name;       /* NULL: address is the place; freed with the symbol */
    uint64_t offset;  /* from the function's address */
    uint64_t address; /* 0: not known yet */
    uint64_t size;    /* of the function, in bytes; 0: not known */
    size_t looked;    /* how many modules were looked through */
    char *refused;    /* why the debug file of one of them was not; NULL: there was none; freed with
                         the symbol */
};

/* 0, or BT_USAGE. exec_symbol_clear() frees what it holds. */
int exec_symbol_parse(struct exec_symbol *symbol, const char *text, struct bt_error *error);
void exec_symbol_clear(struct exec_symbol *symbol);

/* Looks for it in the modules that were not there at the last call. Whether it is known now. */
bool exec_symbol_look(struct exec_symbol *symbol, const struct modules *modules);

#endif
