#include "tools/symbols/filter_symbols.h"

#include "tools/common/filter_option.h"
#include "tools/symbols/symbol_addresses.h"

int filter_symbols_check(const char *text, struct bt_error *error)
{
    return filter_option_check(text, &filter_option_any_symbol, error);
}

int filter_symbols_parse(struct expression **expression, const char *text,
                         const struct module_settings *settings,
                         const struct module_captures *captures, bool silent,
                         struct bt_error *error)
{
    struct symbol_addresses *symbols = symbol_addresses_new(settings, captures, error);
    *expression = NULL;
    if (!symbols)
        return error->code;
    const struct expression_symbols finder = symbol_addresses_finder(symbols);
    const int result = expression_parse(expression, text, &finder, error);
    if (result == BT_USAGE && !silent)
        filter_option_show_place(text, &finder);
    symbol_addresses_free(symbols);
    return result;
}
