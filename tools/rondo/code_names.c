#include "tools/rondo/code_names.h"

#include "tools/cfg/image.h"
#include "tools/cfg/image_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPECIFICATION_BYTES 4200u

struct file {
    struct images *images; /* one; NULL: not read yet, or nothing to be read */
    struct image_names names;
    bool looked;
};

struct code_names {
    const struct modules *modules;
    struct file *files; /* by the modules' numbers */
    size_t count;
};

struct code_names *code_names_new(const struct modules *modules, struct bt_error *error)
{
    struct code_names *names = calloc(1, sizeof *names);
    if (names) {
        names->modules = modules;
        names->count = modules_count(modules);
        names->files = calloc(names->count + 1, sizeof *names->files);
        if (names->files)
            return names;
    }
    code_names_free(names);
    bt_fail(error, BT_MEMORY, "no memory for the names of code");
    return NULL;
}

void code_names_free(struct code_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; names->files && i < names->count; i++) {
        image_names_clear(&names->files[i].names);
        images_free(names->files[i].images);
    }
    free(names->files);
    free(names);
}

/* The module that had code there; of several, the one that came last. */
static size_t find(const struct code_names *names, uint64_t address)
{
    for (size_t i = names->count; i-- > 0;) {
        const struct module *module = modules_get(names->modules, i);
        if (address >= module->start && address < module->end)
            return i;
    }
    return names->count;
}

static void read_names(struct file *file, const struct module *module)
{
    char specification[SPECIFICATION_BYTES];
    file->looked = true;
    file->images = images_new(NULL);
    snprintf(specification, sizeof specification, "%s@0x%" PRIx64, module->path,
             module->load_address);
    if (!file->images || images_add(file->images, specification, NULL) < 0)
        return;
    if (image_names_read(&file->names, images_get(file->images, 0), NULL) < 0)
        image_names_clear(&file->names);
}

static void find_symbol(const struct image_names *names, uint64_t address, struct code_name *place)
{
    size_t low = 0, high = names->symbol_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (names->symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > 0 && low - i <= 8;) {
        const struct image_symbol *symbol = &names->symbols[i];
        if (address - symbol->address < symbol->size) {
            place->symbol = symbol->name;
            place->symbol_offset = address - symbol->address;
            return;
        }
    }
}

static void find_line(const struct image_names *names, uint64_t address, struct code_name *place)
{
    size_t low = 0, high = names->line_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (names->lines[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - names->lines[low - 1].address >= names->lines[low - 1].size)
        return;
    place->file = names->files[names->lines[low - 1].file];
    place->line = names->lines[low - 1].line;
}

void code_names_at(struct code_names *names, uint64_t address, struct code_name *place)
{
    *place = (struct code_name){.offset = address};
    size_t number = find(names, address);
    if (number == names->count)
        return;
    const struct module *module = modules_get(names->modules, number);
    struct file *file = &names->files[number];
    if (!file->looked)
        read_names(file, module);
    const char *slash = strrchr(module->path, '/');
    place->module = slash ? slash + 1 : module->path;
    place->offset = address - module->load_address;
    find_symbol(&file->names, address, place);
    find_line(&file->names, address, place);
}
