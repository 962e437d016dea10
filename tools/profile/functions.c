#include "tools/profile/functions.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"
#include "tools/dcfg/graph/span_map.h"
#include "tools/symbols/demangle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPECIFICATION_BYTES 4200u
#define NAME_BYTES          20u

/* A module whose code was executed. */
struct source_file {
    const struct module *module;
    struct images *images;    /* holds this module only; NULL: unreadable */
    struct image_names names; /* symbols and lines */
    struct span_map symbols;
    uint32_t *functions;   /* by symbol; FUNCTION_NONE: not seen yet */
    uint32_t number;       /* from 1 on */
    uint32_t first_source; /* number of its first source file */
    bool lines_read;
    struct image_names line_names;
    struct span_map lines;
};

struct functions {
    const struct modules *modules;
    struct source_file **files;
    size_t file_count, file_capacity;
    struct function *functions;
    size_t count, capacity;
    struct hash_index entered; /* functions without a symbol, by module and start */
    uint32_t sources;
};

struct functions *functions_new(void)
{
    return calloc(1, sizeof(struct functions));
}

static void file_free(struct source_file *file)
{
    image_names_clear(&file->names);
    image_names_clear(&file->line_names);
    span_map_clear(&file->symbols);
    span_map_clear(&file->lines);
    images_free(file->images);
    free(file->functions);
    free(file);
}

void functions_free(struct functions *functions)
{
    if (!functions)
        return;
    for (size_t i = 0; i < functions->file_count; i++)
        file_free(functions->files[i]);
    for (size_t i = 0; i < functions->count; i++)
        if (functions->functions[i].allocated)
            free((char *)(uintptr_t)functions->functions[i].name);
    free(functions->files);
    free(functions->functions);
    hash_index_clear(&functions->entered);
    free(functions);
}

void functions_set_modules(struct functions *functions, const struct modules *modules)
{
    functions->modules = modules;
}

/* --- files ------------------------------------------------------------------------------------ */

static int cut_symbols(struct source_file *file)
{
    size_t count = file->names.symbol_count;
    struct span *spans = malloc((count + 1) * sizeof *spans);
    file->functions = malloc((count + 1) * sizeof *file->functions);
    if (!spans || !file->functions) {
        free(spans);
        return BT_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        const struct image_symbol *symbol = &file->names.symbols[i];
        spans[i] = (struct span){
            .start = symbol->address, .end = symbol->address + symbol->size, .row = (uint32_t)i};
        file->functions[i] = FUNCTION_NONE;
    }
    int result = span_map_make(&file->symbols, spans, (uint32_t)count);
    free(spans);
    return result;
}

/* A file that cannot be read has no names; counting continues. */
static void read_routines(struct source_file *file)
{
    struct bt_error error;
    char specification[SPECIFICATION_BYTES];
    int length = snprintf(specification, sizeof specification, "%s@0x%" PRIx64, file->module->path,
                          file->module->load_address);
    file->images = images_new(&error);
    if (!file->images || length >= (int)sizeof specification ||
        images_add(file->images, specification, &error) != 0 ||
        image_names_read_routines(&file->names, images_get(file->images, 0), &error) != 0 ||
        cut_symbols(file) != 0) {
        images_free(file->images);
        file->images = NULL;
    }
}

static struct source_file *file_of(struct functions *functions, const struct module *module)
{
    if (!module)
        return NULL;
    for (size_t i = 0; i < functions->file_count; i++)
        if (functions->files[i]->module == module)
            return functions->files[i];
    struct source_file **larger = grow_array(functions->files, &functions->file_capacity,
                                             functions->file_count + 1, sizeof *larger);
    if (!larger)
        return NULL;
    functions->files = larger;
    struct source_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->module = module;
    file->number = (uint32_t)functions->file_count + 1;
    read_routines(file);
    return larger[functions->file_count++] = file;
}

static struct source_file *file_at(struct functions *functions, uint64_t address)
{
    return file_of(functions,
                   functions->modules ? modules_find(functions->modules, address) : NULL);
}

/* Start of the last function that begins at or before an address; 0: none. */
static uint64_t start_before(const struct source_file *file, uint64_t address)
{
    size_t low = 0;
    size_t high = file->names.start_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->names.starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? file->names.starts[low - 1] : 0;
}

/* --- functions -------------------------------------------------------------------------------- */

static char *place_name(struct functions *functions, const struct module *module, uint64_t start)
{
    char *name = malloc(NAME_BYTES);
    if (name)
        snprintf(name, NAME_BYTES, "0x%" PRIx64, start - functions_bias(functions, module));
    return name;
}

/* symbol may be NULL. */
static uint32_t add(struct functions *functions, const struct module *module, uint64_t start,
                    const char *symbol)
{
    const char *name = symbol ? symbol : place_name(functions, module, start);
    struct function *larger = grow_array(functions->functions, &functions->capacity,
                                         functions->count + 1, sizeof *larger);
    if (larger)
        functions->functions = larger;
    if (!larger || !name || functions->count >= FUNCTION_NONE) {
        if (!symbol)
            free((char *)(uintptr_t)name);
        return FUNCTION_NONE;
    }
    larger[functions->count] = (struct function){.module = module,
                                                 .start = start,
                                                 .name = name,
                                                 .symbol = symbol != NULL,
                                                 .allocated = symbol == NULL};
    return (uint32_t)functions->count++;
}

/* The function without a symbol that begins at an address. */
static uint32_t entered_at(struct functions *functions, const struct module *module,
                           uint64_t address)
{
    const uint32_t hash = hash_pair((uintptr_t)module, address);
    struct hash_search search = hash_search(&functions->entered, hash);
    while (hash_search_next(&search))
        if (functions->functions[search.number].start == address &&
            functions->functions[search.number].module == module)
            return search.number;
    if (hash_index_reserve(&functions->entered, 1) != 0)
        return FUNCTION_NONE;
    const uint32_t number = add(functions, module, address, NULL);
    if (number != FUNCTION_NONE)
        hash_index_add(&functions->entered, hash, number);
    return number;
}

uint32_t functions_at(struct functions *functions, uint64_t address, bool entered, uint32_t before)
{
    struct source_file *file = file_at(functions, address);
    const struct module *module = file ? file->module : NULL;
    uint32_t row;
    uint64_t end;
    if (file && file->images && span_map_find(&file->symbols, address, &row, &end)) {
        const struct image_symbol *symbol = &file->names.symbols[row];
        if (file->functions[row] == FUNCTION_NONE)
            file->functions[row] = add(functions, module, symbol->address, symbol->name);
        return file->functions[row];
    }
    uint64_t start = file && file->images ? start_before(file, address) : 0;
    if (start != 0)
        return entered_at(functions, module, start);
    if (!entered && before != FUNCTION_NONE && !functions->functions[before].symbol &&
        functions->functions[before].module == module)
        return before;
    return entered_at(functions, module, address);
}

/* The length of a name without the suffix of cold parts. */
static size_t stem_length(const char *name)
{
    const char *cold = strstr(name, ".cold");
    return cold ? (size_t)(cold - name) : strlen(name);
}

bool functions_are_one(const struct functions *functions, uint32_t one, uint32_t other)
{
    if (one == other || one == FUNCTION_NONE || other == FUNCTION_NONE)
        return one == other;
    const struct function *left = &functions->functions[one];
    const struct function *right = &functions->functions[other];
    const size_t length = stem_length(left->name);
    return left->symbol && right->symbol && left->module == right->module &&
           (left->name[length] || right->name[stem_length(right->name)]) &&
           stem_length(right->name) == length && memcmp(left->name, right->name, length) == 0;
}

const struct module *functions_module(struct functions *functions, uint64_t address)
{
    return functions->modules ? modules_find(functions->modules, address) : NULL;
}

bool functions_is_stub(struct functions *functions, uint64_t address)
{
    const struct source_file *file = file_at(functions, address);
    for (size_t i = 0; file && file->images && i < file->names.stub_count; i++)
        if (address - file->names.stubs[i].address < file->names.stubs[i].size)
            return true;
    return false;
}

void functions_demangle(struct functions *functions)
{
    struct demangler *demangler = demangler_new();
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->functions[i];
        char *name = function->allocated ? NULL : demangle(demangler, function->name);
        if (name) {
            function->name = name;
            function->allocated = true;
        }
    }
    demangler_free(demangler);
}

void functions_print_refused(const struct functions *functions, FILE *out)
{
    for (size_t i = 0; out && i < functions->file_count; i++)
        images_print_refused(functions->files[i]->images, out);
    if (out)
        fflush(out);
}

uint32_t functions_count(const struct functions *functions)
{
    return (uint32_t)functions->count;
}

const struct function *functions_get(const struct functions *functions, uint32_t number)
{
    return &functions->functions[number];
}

uint64_t functions_bias(struct functions *functions, const struct module *module)
{
    const struct source_file *file = file_of(functions, module);
    return file && file->images ? images_get(file->images, 0)->bias : 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void read_lines(struct functions *functions, struct source_file *file)
{
    struct bt_error error;
    file->lines_read = true;
    if (!file->images ||
        image_names_read_lines(&file->line_names, images_get(file->images, 0), &error) != 0)
        return;
    size_t count = file->line_names.line_count;
    struct span *spans = malloc((count + 1) * sizeof *spans);
    file->first_source = functions->sources + 1;
    functions->sources += (uint32_t)file->line_names.file_count;
    for (size_t i = 0; spans && i < count; i++) {
        const struct image_line *line = &file->line_names.lines[i];
        spans[i] = (struct span){
            .start = line->address, .end = line->address + line->size, .row = (uint32_t)i};
    }
    if (spans)
        span_map_make(&file->lines, spans, (uint32_t)count);
    free(spans);
}

struct function_line functions_line(struct functions *functions, const struct module *module,
                                    uint64_t address)
{
    struct source_file *file = file_of(functions, module);
    uint32_t row;
    uint64_t end;
    if (file && !file->lines_read)
        read_lines(functions, file);
    if (!file || !span_map_find(&file->lines, address, &row, &end))
        return (struct function_line){.file = NULL, .line = 0, .number = 0};
    const struct image_line *line = &file->line_names.lines[row];
    return (struct function_line){.file = file->line_names.files[line->file],
                                  .line = line->line,
                                  .number = file->first_source + line->file};
}

uint32_t functions_sources(const struct functions *functions)
{
    return functions->sources;
}

uint32_t functions_modules(const struct functions *functions)
{
    return (uint32_t)functions->file_count;
}

uint32_t functions_module_number(struct functions *functions, const struct module *module)
{
    const struct source_file *file = file_of(functions, module);
    return file ? file->number : 0;
}
