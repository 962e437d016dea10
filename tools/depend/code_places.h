/*
 * Places of a program's code: numbers for instructions, and what is known of them. Places of code
 * that is unloaded, or replaced by other files, stay valid.
 */
#ifndef TOOLS_DEPEND_CODE_PLACES_H
#define TOOLS_DEPEND_CODE_PLACES_H

#include "formats/base/hash_index.h"
#include "formats/dependences/dependences.h"
#include "tools/profile/functions.h"

struct code_place {
    uint64_t address;
    const struct module *module; /* NULL: code without a file */
    uint32_t function;           /* FUNCTION_NONE: unknown */
    struct function_line line;
    uint8_t role; /* the caller's; 0 of a new place */
};

struct code_places {
    struct functions *functions;
    struct code_place *places;
    size_t count, capacity;
    struct hash_index by_address;
};

/* The caller owns the functions, which must outlive the places. Clear with code_places_clear(). */
void code_places_init(struct code_places *places, struct functions *functions);
void code_places_clear(struct code_places *places);

/* The number of the instruction at an address, in a function (functions_at()). 0 or BT_MEMORY. */
int code_places_add(struct code_places *places, uint64_t address, uint32_t function,
                    uint32_t *number);

/* What is known of a place, valid until the functions change. */
struct dependence_place code_places_describe(const struct code_places *places, uint32_t number);

#endif
