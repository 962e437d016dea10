/* Filters of a command that may name the symbols of the programs that it knows. */
#ifndef TOOLS_SYMBOLS_FILTER_SYMBOLS_H
#define TOOLS_SYMBOLS_FILTER_SYMBOLS_H

#include "formats/record/expression.h"
#include "tools/symbols/module_lists.h"

/* Checks the argument of -f while the programs are not known yet, as filter_option_check. */
int filter_symbols_check(const char *text, struct bt_error *error);

/*
 * Parses it once all options are taken; captures are those that will be read. Prints the place of a
 * mistake to standard error unless silent. 0 and *expression, or a negative code.
 */
int filter_symbols_parse(struct expression **expression, const char *text,
                         const struct module_settings *settings,
                         const struct module_captures *captures, bool silent,
                         struct bt_error *error);

#endif
