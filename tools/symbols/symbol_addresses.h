/* The addresses of symbols, for `symbol=NAME` in filter expressions. */
#ifndef TOOLS_SYMBOLS_SYMBOL_ADDRESSES_H
#define TOOLS_SYMBOLS_SYMBOL_ADDRESSES_H

#include "formats/record/expression.h"
#include "tools/symbols/module_lists.h"

struct symbol_addresses;

/* Of the programs that a command knows; settings and captures must outlive it. Their files are read
 * at the first search. NULL and *error: no memory. */
struct symbol_addresses *symbol_addresses_new(const struct module_settings *settings,
                                              const struct module_captures *captures,
                                              struct bt_error *error);
void symbol_addresses_free(struct symbol_addresses *symbols);

/*
 * For expression_parse; valid as long as symbols. Finds functions
 * and variables of any program by their name, by their C++ name without parameters, or by a pattern
 * with `*`. Symbols of a program that was in memory for some time only are found as if it always
 * was.
 */
struct expression_symbols symbol_addresses_finder(struct symbol_addresses *symbols);

#endif
