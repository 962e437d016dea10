#include "tools/symbols/symbol_addresses.h"

#include "formats/base/suggestion.h"
#include "tools/symbols/demangle.h"
#include "tools/symbols/image_list.h"
#include "tools/symbols/image_names.h"
#include "tools/symbols/image_times.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct symbol_addresses {
    struct images *images;
    struct image_names *names; /* functions and variables of each image, once they are read */
    uint32_t count;            /* of images in `names` */
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

struct symbol_addresses *symbol_addresses_new(struct bt_error *error)
{
    struct symbol_addresses *symbols = calloc(1, sizeof *symbols);
    if (!symbols) {
        bt_fail(error, BT_MEMORY, "no memory for symbols");
        return NULL;
    }
    symbols->images = images_new(error);
    if (!symbols->images) {
        free(symbols);
        return NULL;
    }
    images_allow_times(symbols->images);
    return symbols;
}

void symbol_addresses_free(struct symbol_addresses *symbols)
{
    if (!symbols)
        return;
    for (uint32_t i = 0; i < 2 * symbols->count; i++)
        image_names_clear(&symbols->names[i]);
    free(symbols->names);
    demangler_free(symbols->demangler);
    images_free(symbols->images);
    free(symbols);
}

int symbol_addresses_add_list(struct symbol_addresses *symbols, const char *path,
                              struct bt_error *error)
{
    return image_list_read(symbols->images, path, error);
}

int symbol_addresses_add_image(struct symbol_addresses *symbols, const char *specification,
                               struct bt_error *error)
{
    return images_add(symbols->images, specification, error);
}

/* Reads all names, at the first search. 0 or a negative code. */
static int read_names(struct symbol_addresses *symbols, struct bt_error *error)
{
    uint32_t count = images_count(symbols->images);
    if (symbols->names)
        return 0;
    int result = images_separate(symbols->images, error);
    symbols->names = calloc(2 * (size_t)count + 1, sizeof *symbols->names);
    symbols->demangler = demangler_new();
    if (result == 0 && !symbols->names)
        result = bt_fail(error, BT_MEMORY, "no memory for symbols");
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const struct image *image = images_get(symbols->images, i);
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
    for (uint32_t i = 0; i < 2 * symbols->count && result == 0; i++)
        result = search_image(&search, &symbols->names[i], images_get(symbols->images, i / 2));
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
