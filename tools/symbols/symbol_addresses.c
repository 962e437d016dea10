#include "tools/symbols/symbol_addresses.h"

#include "formats/base/suggestion.h"
#include "tools/symbols/demangle.h"
#include "tools/symbols/image_names.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct symbol_addresses {
    const struct module_settings *settings;
    const struct module_captures *captures;
    struct module_lists *lists; /* NULL: not read */
    struct image_names *names;  /* functions and variables of each image, once they are read */
    size_t count;               /* of images in `names` */
    struct demangler *demangler;
};

/* What is searched. */
struct search {
    const char *name;
    const struct demangler *demangler;
    struct interval_set *addresses;
    struct suggestion suggestion;
    bool found;
};

struct symbol_addresses *symbol_addresses_new(const struct module_settings *settings,
                                              const struct module_captures *captures,
                                              struct bt_error *error)
{
    struct symbol_addresses *symbols = calloc(1, sizeof *symbols);
    if (!symbols) {
        bt_fail(error, BT_MEMORY, "no memory for symbols");
        return NULL;
    }
    symbols->settings = settings;
    symbols->captures = captures;
    return symbols;
}

void symbol_addresses_free(struct symbol_addresses *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < 2 * symbols->count; i++)
        image_names_clear(&symbols->names[i]);
    free(symbols->names);
    demangler_free(symbols->demangler);
    module_lists_free(symbols->lists);
    free(symbols);
}

/* Reads all names, at the first search. 0 or a negative code. */
static int read_names(struct symbol_addresses *symbols, struct bt_error *error)
{
    if (symbols->names)
        return 0;
    int result = symbols->lists ? 0
                                : module_lists_new(&symbols->lists, symbols->settings,
                                                   symbols->captures, error);
    const size_t count = result == 0 ? module_lists_count(symbols->lists) : 0;
    if (result < 0)
        return result;
    if (count == 0)
        return bt_fail(
            error, BT_USAGE,
            "the program with this symbol is not known: there is no list of modules beside "
            "the captures (bustap exec writes one)");
    symbols->names = calloc(2 * count, sizeof *symbols->names);
    symbols->demangler = demangler_new();
    if (!symbols->names)
        return bt_fail(error, BT_MEMORY, "no memory for symbols");
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct image *image = module_lists_get(symbols->lists, i);
        symbols->count = i + 1;
        result = image_names_read_routines(&symbols->names[2 * i], image, error);
        if (result == 0)
            result = image_names_read_variables(&symbols->names[2 * i + 1], image, error);
    }
    return result;
}

/* Whether a C++ symbol has the name, with or without parameters. */
static bool matches_demangled(const struct search *search, const char *symbol)
{
    if (strncmp(symbol, "_Z", 2) != 0 || !search->demangler)
        return false;
    char *text = demangle(search->demangler, symbol);
    if (!text)
        return false;
    bool matches = fnmatch(search->name, text, 0) == 0;
    text[strcspn(text, "(")] = '\0';
    matches = matches || fnmatch(search->name, text, 0) == 0;
    free(text);
    return matches;
}

static int search_image(struct search *search, const struct image_names *names,
                        const struct image *image)
{
    int result = 0;
    for (size_t i = 0; i < names->symbol_count && result == 0; i++) {
        const struct image_symbol *symbol = &names->symbols[i];
        const uint64_t address = symbol->address - image->load_address + image->memory_address;
        if (fnmatch(search->name, symbol->name, 0) != 0 &&
            !matches_demangled(search, symbol->name)) {
            suggestion_try(&search->suggestion, symbol->name);
            continue;
        }
        search->found = true;
        result = interval_set_add(search->addresses, address,
                                  address + (symbol->size ? symbol->size - 1 : 0));
    }
    return result;
}

static int find_addresses(void *context, const char *name, struct interval_set *addresses,
                          struct bt_error *error)
{
    struct symbol_addresses *symbols = context;
    int result = read_names(symbols, error);
    if (result < 0)
        return result;
    struct search search = {.name = name, .demangler = symbols->demangler, .addresses = addresses};
    suggestion_begin(&search.suggestion, name);
    for (size_t i = 0; i < 2 * symbols->count && result == 0; i++)
        result = search_image(&search, &symbols->names[i], module_lists_get(symbols->lists, i / 2));
    if (result < 0)
        return bt_fail(error, result, "no memory for symbols");
    if (search.found)
        return 0;
    bt_fail(error, BT_USAGE, "no symbol of the modules is called %.200s", name);
    return suggestion_add(error, search.suggestion.nearest);
}

struct expression_symbols symbol_addresses_finder(struct symbol_addresses *symbols)
{
    return (struct expression_symbols){.find = find_addresses, .context = symbols};
}
