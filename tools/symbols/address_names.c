#include "tools/symbols/address_names.h"

#include "tools/symbols/image_names.h"

#include <stdlib.h>

struct address_names {
    struct module_lists *lists;
    struct image_names *code; /* one for each image */
    struct image_names *data;
    size_t count;
};

static int read_all(struct address_names *names, struct bt_error *error)
{
    const size_t count = module_lists_count(names->lists);
    names->code = calloc(count + 1, sizeof *names->code);
    names->data = calloc(count + 1, sizeof *names->data);
    if (!names->code || !names->data)
        return bt_fail(error, BT_MEMORY, "no memory for the names of %zu images", count);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct image *image = module_lists_get(names->lists, i);
        names->count = i + 1;
        result = image_names_read(&names->code[i], image, error);
        if (result == 0)
            result = image_names_read_variables(&names->data[i], image, error);
    }
    return result;
}

int address_names_new(struct address_names **names, const struct module_settings *settings,
                      const struct module_captures *captures, struct bt_error *error)
{
    *names = calloc(1, sizeof **names);
    if (!*names)
        return bt_fail(error, BT_MEMORY, "no memory for names of addresses");
    int result = module_lists_new(&(*names)->lists, settings, captures, error);
    if (result == 0)
        result = read_all(*names, error);
    if (result < 0 || (*names)->count == 0) {
        address_names_free(*names);
        *names = NULL;
    }
    return result;
}

void address_names_free(struct address_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->count; i++) {
        image_names_clear(&names->code[i]);
        image_names_clear(&names->data[i]);
    }
    free(names->code);
    free(names->data);
    module_lists_free(names->lists);
    free(names);
}

void address_names_print_refused(const struct address_names *names, FILE *out)
{
    if (names)
        module_lists_print_refused(names->lists, out);
}

/* Number of addresses in a sorted array that are at most `address`. */
static size_t count_up_to(const void *rows, size_t count, size_t row_bytes, uint64_t address)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        /* both symbols and lines have their address as the first member */
        const uint64_t *at = (const void *)((const char *)rows + middle * row_bytes);
        if (*at <= address) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

static void find_symbol(const struct image_names *names, uint64_t address,
                        struct address_name *name)
{
    size_t n = count_up_to(names->symbols, names->symbol_count, sizeof *names->symbols, address);
    /* of nested symbols take the one that begins last; nesting is rarely deep */
    for (size_t tries = 0; n > 0 && tries < 16 && !name->symbol; tries++) {
        const struct image_symbol *symbol = &names->symbols[--n];
        if (address - symbol->address >= symbol->size)
            continue;
        while (symbol > names->symbols && symbol[-1].address == symbol->address &&
               symbol[-1].size == symbol->size)
            symbol--;
        name->symbol = symbol->name;
        name->symbol_offset = address - symbol->address;
    }
}

static void find_line(const struct image_names *names, uint64_t address, struct address_name *name)
{
    size_t n = count_up_to(names->lines, names->line_count, sizeof *names->lines, address);
    if (n == 0 || address - names->lines[n - 1].address >= names->lines[n - 1].size)
        return;
    name->file = names->files[names->lines[n - 1].file];
    name->line = names->lines[n - 1].line;
}

void address_names_find(const struct address_names *names, uint64_t address,
                        struct address_name *name)
{
    *name = (struct address_name){.symbol = NULL};
    for (size_t i = 0; names && i < names->count && !name->symbol; i++) {
        const struct image *image = module_lists_get(names->lists, i);
        if (address < image->memory_address || address - image->memory_address >= image->size)
            continue;
        /* images that were at the same addresses at different times have been moved apart */
        const uint64_t moved = address - image->memory_address + image->load_address;
        find_symbol(&names->code[i], moved, name);
        find_line(&names->code[i], moved, name);
        if (!name->symbol)
            find_symbol(&names->data[i], moved, name);
    }
}
