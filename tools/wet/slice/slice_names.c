#include "tools/wet/slice/slice_names.h"

#include "formats/base/edit_distance.h"
#include "formats/base/printable.h"
#include "tools/symbols/image_names.h"
#include "tools/wet/slice/slice_modules.h"

#include <string.h>

bool slice_names_has(const struct wet_trace *trace, uint32_t id, const struct slice_where *where)
{
    const struct wet_code *code = &trace->file.code;
    const char *name = code->functions[code->instructions[id].function].name;
    return name && strcmp(name, where->file) == 0 &&
           (!where->is_own || slice_module_is_own(code, id));
}

bool slice_names_accesses(const struct wet_trace *trace, uint32_t id,
                          const struct slice_where *where)
{
    const struct wet_instruction *one = &trace->file.code.instructions[id];
    struct decode_instruction decoded;
    decode(&decoded, one->bytes, one->size, one->address);
    for (unsigned i = 0; i < decoded.access_count; i++) {
        const struct decode_access *access = &decoded.accesses[i];
        const uint64_t address = (uint64_t)access->displacement;
        if (access->base == DECODE_NONE && !access->fs && address >= where->begin &&
            address < where->end && (where->is_read ? access->read : access->write))
            return true;
    }
    return false;
}

/* --- variables ---------------------------------------------------------------------------------
 */

/* The variables of a name in one file. Their number; where has the first one. */
static size_t variables_find(struct slice_where *where, const struct image_names *names)
{
    size_t found = 0;
    for (size_t i = 0; i < names->symbol_count; i++) {
        const struct image_symbol *symbol = &names->symbols[i];
        if (strcmp(symbol->name, where->file) != 0 || symbol->size == 0)
            continue;
        if (found == 0) {
            where->begin = symbol->address;
            where->end = symbol->address + symbol->size;
        }
        found++;
    }
    return found;
}

/* Reads a module's variables. Its number of those with the name; a file that cannot be read has
 * none. */
static size_t module_find_variables(struct slice_where *where, const struct wet_module *module)
{
    struct bt_error unheard;
    struct image_names names = {.symbols = NULL};
    struct images *images = images_new(&unheard);
    size_t found = 0;
    if (images && images_add_at(images, module->path, module->load_address, &unheard) == 0 &&
        image_names_read_variables(&names, images_get(images, 0), &unheard) == 0)
        found = variables_find(where, &names);
    image_names_clear(&names);
    images_free(images);
    return found;
}

static bool variable_is_accessed(const struct slice_where *where, const struct wet_trace *trace)
{
    for (uint32_t id = 1; id < trace->file.code.instruction_count; id++)
        if (slice_names_accesses(trace, id, where))
            return true;
    return false;
}

/* The executed function whose name is most similar. */
static int name_fail_unknown(const struct slice_where *where, const struct wet_trace *trace,
                             struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    const char *nearest = NULL;
    size_t best = SIZE_MAX;
    for (size_t i = 1; i < code->function_count; i++) {
        const size_t distance =
            code->functions[i].name ? edit_distance(where->file, code->functions[i].name) : best;
        if (distance >= best)
            continue;
        best = distance;
        nearest = code->functions[i].name;
    }
    return bt_fail(
        error, BT_USAGE,
        "'%.80s' is no executed function and no variable%s%.80s%s: give FILE:LINE, or an "
        "address",
        PRINTABLE(where->file), nearest ? "; the most similar function is '" : "",
        nearest ? PRINTABLE(nearest) : "", nearest ? "'" : "");
}

static int variable_resolve(struct slice_where *where, const struct wet_trace *trace,
                            struct bt_error *error)
{
    const struct wet_code *code = &trace->file.code;
    size_t found = 0;
    for (size_t i = 0; i < code->module_count && found == 0; i++)
        found = module_find_variables(where, &code->modules[i]);
    if (found == 0)
        return name_fail_unknown(where, trace, error);
    if (found > 1)
        return bt_fail(error, BT_USAGE,
                       "'%.80s' is the name of %zu variables: give FILE:LINE, or an address",
                       PRINTABLE(where->file), found);
    where->kind = SLICE_AT_VARIABLE;
    if (variable_is_accessed(where, trace))
        return 0;
    where->is_read = true;
    if (variable_is_accessed(where, trace))
        return 0;
    return bt_fail(error, BT_USAGE,
                   "no executed instruction has the address of '%.80s' in its code: it is used "
                   "through pointers, or not at all; give FILE:LINE",
                   PRINTABLE(where->file));
}

/* --- names -------------------------------------------------------------------------------------
 */

static bool address_is_executed(const struct wet_trace *trace, uint64_t address)
{
    for (uint32_t id = 1; id < trace->file.code.instruction_count; id++)
        if (trace->file.code.instructions[id].address == address)
            return true;
    return false;
}

static bool name_is_function(const struct slice_where *where, const struct wet_trace *trace)
{
    for (uint32_t id = 1; id < trace->file.code.instruction_count; id++)
        if (slice_names_has(trace, id, where))
            return true;
    return false;
}

int slice_names_resolve(struct slice_where *where, const struct wet_trace *trace,
                        struct bt_error *error)
{
    const bool is_address = where->kind == SLICE_AT_ADDRESS;
    if ((!is_address && where->kind != SLICE_AT_NAME) ||
        (is_address && address_is_executed(trace, where->address)))
        return 0;
    where->is_own = true;
    if (!name_is_function(where, trace))
        where->is_own = false;
    if (where->is_own || name_is_function(where, trace)) {
        where->kind = SLICE_AT_FUNCTION;
        return 0;
    }
    const int result = variable_resolve(where, trace, error);
    return is_address && where->kind == SLICE_AT_ADDRESS ? 0 : result;
}
