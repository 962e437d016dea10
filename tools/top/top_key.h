/* Keys by which requests are counted: one or several fields, packed into a number. */
#ifndef TOOLS_TOP_TOP_KEY_H
#define TOOLS_TOP_TOP_KEY_H

#include "formats/base/error.h"
#include "formats/record/record.h"
#include "tools/top/places.h"

#include <stdbool.h>

enum top_field {
    TOP_ADDRESS,
    TOP_LINE,        /* address of the line's first byte */
    TOP_PAGE,        /* likewise */
    TOP_INSTRUCTION, /* address of the processor's last fetch, the request itself if it is one */
    TOP_PROCESSOR,
    TOP_TYPE,
    TOP_SYMBOL,   /* at the address */
    TOP_FUNCTION, /* symbol at the instruction */
    TOP_SOURCE,   /* source line of the instruction */
    TOP_FIELDS
};

struct top_key {
    enum top_field fields[TOP_FIELDS];
    unsigned shifts[TOP_FIELDS]; /* of fields[i] in the number */
    unsigned count;
    unsigned line_shift, page_shift; /* binary logarithms of the sizes */
    struct places *places;           /* NULL: no field needs names */
};

/* Adds the fields of "line,processor". 0 or BT_USAGE. */
int top_key_take(struct top_key *key, const char *list, struct bt_error *error);

/* Sets the shifts, once all else but places is set. 0, or BT_USAGE: the fields do not fit. */
int top_key_pack(struct top_key *key, struct bt_error *error);

bool top_key_has(const struct top_key *key, enum top_field field);

/* Whether a field is an address, or is found by one: then only references to memory have it. */
bool top_key_is_place(const struct top_key *key);
/* Whether a field needs the instruction, or names. */
bool top_key_needs_instruction(const struct top_key *key);
bool top_key_needs_names(const struct top_key *key);

/* The name of a field: "line". */
const char *top_field_name(enum top_field field);

/* The number for a request that touches an address. */
uint64_t top_key_number(const struct top_key *key, const struct record *record, uint32_t address,
                        uint32_t instruction);

/* The value of fields[i] in a number: an address, a number of places.h, a processor or a type. */
uint32_t top_key_value(const struct top_key *key, uint64_t number, unsigned i);

/* The order of two numbers: by the first field that differs; names alphabetically. For
 * frequent_top(); context is the key. */
int top_key_order(const void *context, uint64_t one, uint64_t other);

#endif
