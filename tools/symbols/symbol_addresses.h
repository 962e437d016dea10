/* The addresses of symbols, for `symbol=NAME` in filter expressions. */
#ifndef TOOLS_SYMBOLS_SYMBOL_ADDRESSES_H
#define TOOLS_SYMBOLS_SYMBOL_ADDRESSES_H

#include "formats/record/expression.h"

struct symbol_addresses;

/* NULL and *error: no memory. */
struct symbol_addresses *symbol_addresses_new(struct bt_error *error);
void symbol_addresses_free(struct symbol_addresses *symbols);

/* Adds the programs that a file of `bustap exec --modules` lists, or one, as images_add(). */
int symbol_addresses_add_list(struct symbol_addresses *symbols, const char *path,
                              struct bt_error *error);
int symbol_addresses_add_image(struct symbol_addresses *symbols, const char *specification,
                               struct bt_error *error);

/*
 * For expression_parse, after the programs were added; valid as long as symbols. Finds functions
 * and variables of any program by their name, by their C++ name without parameters, or by a pattern
 * with `*`. Symbols of a program that was in memory for some time only are found as if it always
 * was.
 */
struct expression_symbols symbol_addresses_finder(struct symbol_addresses *symbols);

#endif
