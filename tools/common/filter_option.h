/* The option -f of commands: filter expressions (doc/filter.md) with their mistakes shown. */
#ifndef TOOLS_COMMON_FILTER_OPTION_H
#define TOOLS_COMMON_FILTER_OPTION_H

#include "formats/record/expression.h"

/*
 * expression_parse, which also prints to standard error: the place of a mistake, and what looks
 * like one.
 */
int filter_option_parse(struct expression **expression, const char *text,
                        const struct expression_symbols *symbols, struct bt_error *error);

/* Prints the place of a mistake, after expression_parse has failed. */
void filter_option_show_place(const char *text, const struct expression_symbols *symbols);

/* filter_option_parse for an expression that is used elsewhere: only checks it. */
int filter_option_check(const char *text, const struct expression_symbols *symbols,
                        struct bt_error *error);

/* Accepts any symbol: to check an expression before the modules are known. */
extern const struct expression_symbols filter_option_any_symbol;

#endif
