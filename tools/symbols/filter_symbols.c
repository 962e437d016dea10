#include "tools/symbols/filter_symbols.h"

#include "tools/common/filter_option.h"

int filter_symbols_take(struct filter_symbols *filter, const char *text, struct bt_error *error)
{
    struct expression *expression = NULL;
    filter->text = text;
    int result = expression_parse(&expression, text, &filter_option_any_symbol, error);
    if (result == BT_USAGE)
        filter_option_show_place(text, &filter_option_any_symbol);
    expression_free(expression);
    return result;
}

static int make_symbols(struct filter_symbols *filter, struct bt_error *error)
{
    if (!filter->symbols)
        filter->symbols = symbol_addresses_new(error);
    return filter->symbols ? 0 : error->code;
}

int filter_symbols_take_image(struct filter_symbols *filter, const char *specification,
                              struct bt_error *error)
{
    int result = make_symbols(filter, error);
    return result < 0 ? result : symbol_addresses_add_image(filter->symbols, specification, error);
}

int filter_symbols_take_list(struct filter_symbols *filter, const char *path,
                             struct bt_error *error)
{
    int result = make_symbols(filter, error);
    return result < 0 ? result : symbol_addresses_add_list(filter->symbols, path, error);
}

int filter_symbols_parse(const struct filter_symbols *filter, struct expression **expression,
                         struct bt_error *error)
{
    struct expression_symbols finder;
    *expression = NULL;
    if (!filter->text)
        return 0;
    if (!filter->symbols)
        return filter_option_parse(expression, filter->text, NULL, error);
    finder = symbol_addresses_finder(filter->symbols);
    return filter_option_parse(expression, filter->text, &finder, error);
}

void filter_symbols_clear(struct filter_symbols *filter)
{
    symbol_addresses_free(filter->symbols);
    filter->symbols = NULL;
}
