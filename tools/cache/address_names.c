#include "tools/cache/address_names.h"

#include "tools/symbols/image.h"
#include "tools/symbols/image_names.h"

#include <stdlib.h>

struct places {
    struct images *images;
    struct image_names *code; /* by image */
    struct image_names *data;
    uint32_t count;
};

static int read_all(struct places *places, struct bt_error *error)
{
    uint32_t count = images_count(places->images);
    places->code = calloc(count + 1, sizeof *places->code);
    places->data = calloc(count + 1, sizeof *places->data);
    if (!places->code || !places->data)
        return bt_fail(error, BT_MEMORY, "no memory for the names of %u images", count);
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const struct image *image = images_get(places->images, i);
        places->count = i + 1;
        result = image_names_read(&places->code[i], image, error);
        if (result == 0)
            result = image_names_read_variables(&places->data[i], image, error);
    }
    return result;
}

int places_new(struct places **places, const char *const *images, unsigned count,
               struct bt_error *error)
{
    int result = 0;
    *places = calloc(1, sizeof **places);
    if (!*places)
        return bt_fail(error, BT_MEMORY, "no memory for the names of %u images", count);
    (*places)->images = images_new(error);
    if (!(*places)->images)
        result = error->code;
    for (unsigned i = 0; i < count && result == 0; i++)
        result = images_add((*places)->images, images[i], error);
    if (result == 0)
        result = read_all(*places, error);
    if (result < 0) {
        places_free(*places);
        *places = NULL;
    }
    return result;
}

void places_free(struct places *places)
{
    if (!places)
        return;
    for (uint32_t i = 0; i < places->count; i++) {
        image_names_clear(&places->code[i]);
        image_names_clear(&places->data[i]);
    }
    free(places->code);
    free(places->data);
    images_free(places->images);
    free(places);
}

void places_print_refused(const struct places *places, FILE *out)
{
    if (places)
        images_print_refused(places->images, out);
}

/* How many of a sorted array's addresses are not above an address. */
static size_t count_up_to(const void *rows, size_t count, size_t row_bytes, uint64_t address)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        /* the address is the first member of symbols and of lines */
        const uint64_t *at = (const void *)((const char *)rows + middle * row_bytes);
        if (*at <= address) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

static void find_symbol(const struct image_names *names, uint64_t address, struct place *place)
{
    size_t n = count_up_to(names->symbols, names->symbol_count, sizeof *names->symbols, address);
    /* of nested ones the one that begins last; few are */
    for (size_t tries = 0; n > 0 && tries < 16 && !place->symbol; tries++) {
        const struct image_symbol *symbol = &names->symbols[--n];
        if (address - symbol->address >= symbol->size)
            continue;
        while (symbol > names->symbols && symbol[-1].address == symbol->address &&
               symbol[-1].size == symbol->size)
            symbol--;
        place->symbol = symbol->name;
        place->symbol_offset = address - symbol->address;
    }
}

static void find_line(const struct image_names *names, uint64_t address, struct place *place)
{
    size_t n = count_up_to(names->lines, names->line_count, sizeof *names->lines, address);
    if (n == 0 || address - names->lines[n - 1].address >= names->lines[n - 1].size)
        return;
    place->file = names->files[names->lines[n - 1].file];
    place->line = names->lines[n - 1].line;
}

void places_find(const struct places *places, uint64_t address, struct place *place)
{
    *place = (struct place){.symbol = NULL};
    for (uint32_t i = 0; places && i < places->count && !place->symbol; i++) {
        find_symbol(&places->code[i], address, place);
        if (place->symbol)
            find_line(&places->code[i], address, place);
        else
            find_symbol(&places->data[i], address, place);
    }
}
