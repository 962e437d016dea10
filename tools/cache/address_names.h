/* What the addresses of a capture are called, where programs are given: symbols, source lines. */
#ifndef TOOLS_CACHE_ADDRESS_NAMES_H
#define TOOLS_CACHE_ADDRESS_NAMES_H

#include "formats/base/error.h"

#include <stdint.h>
#include <stdio.h>

struct places;

struct place {
    const char *symbol;     /* NULL: none covers it */
    uint64_t symbol_offset; /* from its start */
    const char *file;       /* of the source; NULL: not known, as for data */
    uint32_t line;
};

/* From specifications "ELF" or "ELF@LOAD" (tools/symbols/image.h). 0 or a negative code. */
int places_new(struct places **places, const char *const *images, unsigned count,
               struct bt_error *error);
void places_free(struct places *places);

/* Prints why debug files are not used, a line each; places NULL: nothing. */
void places_print_refused(const struct places *places, FILE *out);

/* What is at an address; places NULL: nothing. Of data only the symbol is known. */
void places_find(const struct places *places, uint64_t address, struct place *place);

#endif
