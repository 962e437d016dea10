/* The options -f, --image and --modules of a command: a filter that may name symbols. */
#ifndef TOOLS_SYMBOLS_FILTER_SYMBOLS_H
#define TOOLS_SYMBOLS_FILTER_SYMBOLS_H

#include "tools/symbols/symbol_addresses.h"

/* All zero: none of the options. */
struct filter_symbols {
    const char *text; /* the argument of -f; NULL: none */
    struct symbol_addresses *symbols;
};

/* Take the arguments of -f, --image and --modules, in any order. 0 or a negative code. */
int filter_symbols_take(struct filter_symbols *filter, const char *text, struct bt_error *error);
int filter_symbols_take_image(struct filter_symbols *filter, const char *specification,
                              struct bt_error *error);
int filter_symbols_take_list(struct filter_symbols *filter, const char *path,
                             struct bt_error *error);

/* Parses the filter once all options are taken; *expression is NULL without -f. Returns as
 * filter_option_parse. */
int filter_symbols_parse(const struct filter_symbols *filter, struct expression **expression,
                         struct bt_error *error);

void filter_symbols_clear(struct filter_symbols *filter);

#endif
