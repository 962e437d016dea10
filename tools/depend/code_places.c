#include "tools/depend/code_places.h"

#include "formats/base/grow.h"
#include "formats/base/hash.h"

#include <stdlib.h>

void code_places_init(struct code_places *places, struct functions *functions)
{
    *places = (struct code_places){.functions = functions};
}

void code_places_clear(struct code_places *places)
{
    free(places->places);
    hash_index_clear(&places->by_address);
}

int code_places_add(struct code_places *places, uint64_t address, uint32_t function,
                    uint32_t *number)
{
    const struct module *module = functions_module(places->functions, address);
    struct hash_search search = hash_search(&places->by_address, hash_number(address));
    while (hash_search_next(&search)) {
        const struct code_place *place = &places->places[search.number];
        if (place->address == address && place->module == module && place->function == function) {
            *number = search.number;
            return 0;
        }
    }
    struct code_place *larger =
        grow_array(places->places, &places->capacity, places->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    places->places = larger;
    if (hash_index_add(&places->by_address, hash_number(address), (uint32_t)places->count) < 0)
        return BT_MEMORY;
    *number = (uint32_t)places->count;
    larger[places->count++] =
        (struct code_place){.address = address,
                            .module = module,
                            .function = function,
                            .line = functions_line(places->functions, module, address)};
    return 0;
}

struct dependence_place code_places_describe(const struct code_places *places, uint32_t number)
{
    const struct code_place *place = &places->places[number];
    const struct function *function =
        place->function == FUNCTION_NONE ? NULL : functions_get(places->functions, place->function);
    return (struct dependence_place){
        .file = place->line.file,
        .function = function && function->symbol ? function->name : NULL,
        .module = place->module ? place->module->path : NULL,
        .line = place->line.line,
        .offset = place->module ? place->address - functions_bias(places->functions, place->module)
                                : DEPENDENCES_UNKNOWN,
        .address = place->address};
}
