/* Numbers for the symbols and source lines of addresses, so that they can be counted. */
#ifndef TOOLS_TOP_PLACES_H
#define TOOLS_TOP_PLACES_H

#include "tools/symbols/address_names.h"

#include <stdbool.h>

struct places;

#define PLACES_BITS    24u /* numbers are smaller than 2^24 */
#define PLACES_UNKNOWN 0u  /* the number of what has no name */

/* Of the programs that a command knows; *places becomes NULL if it knows none. 0 or a negative
 * code.
 */
int places_new(struct places **places, const struct module_settings *settings,
               const struct module_captures *captures, struct bt_error *error);
void places_free(struct places *places);

/* Prints one line for each debug file that is not used, with the reason. */
void places_print_refused(const struct places *places, FILE *out);

/* The numbers of the symbol and the source line at an address. They stay the same. */
struct place {
    uint32_t symbol, source;
};
struct place places_find(struct places *places, uint32_t address);

/* What a number stands for; NULL: unknown. The texts are valid as long as places. */
const char *places_symbol(const struct places *places, uint32_t symbol);
const char *places_source(const struct places *places, uint32_t source, uint32_t *line);

/* The name of the first byte from address on, of `bytes`, that has a symbol; symbol NULL: none. */
void places_name(const struct places *places, uint32_t address, uint64_t bytes,
                 struct address_name *name);

#endif
