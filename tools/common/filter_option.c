#include "tools/common/filter_option.h"

#include <stdio.h>

static int find_any(void *context, const char *name, struct interval_set *addresses,
                    struct bt_error *error)
{
    (void)context;
    (void)name;
    (void)addresses;
    (void)error;
    return 0;
}

const struct expression_symbols filter_option_any_symbol = {.find = find_any};

void filter_option_show_place(const char *text, const struct expression_symbols *symbols)
{
    char excerpt[EXPRESSION_EXCERPT_BYTES];
    fputs(expression_excerpt(excerpt, text, symbols), stderr);
}

int filter_option_parse(struct expression **expression, const char *text,
                        const struct expression_symbols *symbols, struct bt_error *error)
{
    int result = expression_parse(expression, text, symbols, error);
    if (result == BT_USAGE)
        filter_option_show_place(text, symbols);
    if (result == 0 && expression_warning(*expression))
        fprintf(stderr, "bustap: %s\n", expression_warning(*expression));
    return result;
}

int filter_option_check(const char *text, const struct expression_symbols *symbols,
                        struct bt_error *error)
{
    struct expression *expression = NULL;
    int result = filter_option_parse(&expression, text, symbols, error);
    expression_free(expression);
    return result;
}
