#include "tools/top/top_key.h"

#include "tools/common/words.h"
#include "tools/top/frequent.h"

#include <string.h>

#define NAME_BYTES 16u

static const char *const names[TOP_FIELDS] = {
    [TOP_ADDRESS] = "address",         [TOP_LINE] = "line",           [TOP_PAGE] = "page",
    [TOP_INSTRUCTION] = "instruction", [TOP_PROCESSOR] = "processor", [TOP_TYPE] = "type",
    [TOP_SYMBOL] = "symbol",           [TOP_FUNCTION] = "function",   [TOP_SOURCE] = "source"};

const char *top_field_name(enum top_field field)
{
    return names[field];
}

bool top_key_has(const struct top_key *key, enum top_field field)
{
    for (unsigned i = 0; i < key->count; i++)
        if (key->fields[i] == field)
            return true;
    return false;
}

bool top_key_is_place(const struct top_key *key)
{
    for (unsigned i = 0; i < key->count; i++)
        if (key->fields[i] != TOP_PROCESSOR && key->fields[i] != TOP_TYPE)
            return true;
    return false;
}

bool top_key_needs_instruction(const struct top_key *key)
{
    return top_key_has(key, TOP_INSTRUCTION) || top_key_has(key, TOP_FUNCTION) ||
           top_key_has(key, TOP_SOURCE);
}

bool top_key_needs_names(const struct top_key *key)
{
    return top_key_has(key, TOP_SYMBOL) || top_key_has(key, TOP_FUNCTION) ||
           top_key_has(key, TOP_SOURCE);
}

/* TOP_FIELDS: none has this name. */
static enum top_field find_field(const char *name)
{
    enum top_field field = TOP_ADDRESS;
    while (field < TOP_FIELDS && strcmp(name, names[field]) != 0)
        field++;
    return field;
}

int top_key_take(struct top_key *key, const char *list, struct bt_error *error)
{
    char name[NAME_BYTES];
    for (bool more = true; more;) {
        const char *next = words_next(list, name, sizeof name);
        const enum top_field field = next ? find_field(name) : TOP_FIELDS;
        if (field == TOP_FIELDS)
            return bt_fail(error, BT_USAGE,
                           "'%.40s' is none of address, line, page, instruction, processor, type, "
                           "symbol, function, source",
                           list);
        if (top_key_has(key, field))
            return bt_fail(error, BT_USAGE, "%s is given twice", name);
        key->fields[key->count++] = field;
        more = strchr(list, ',') != NULL;
        list = next;
    }
    return 0;
}

/* Bits of a field's value in the number, and how far it is shifted before. */
static unsigned field_shift(const struct top_key *key, enum top_field field)
{
    return field == TOP_LINE ? key->line_shift : field == TOP_PAGE ? key->page_shift : 0;
}

static unsigned field_bits(const struct top_key *key, enum top_field field)
{
    switch (field) {
    case TOP_PROCESSOR:
    case TOP_TYPE:
        return 8;
    case TOP_SYMBOL:
    case TOP_FUNCTION:
    case TOP_SOURCE:
        return PLACES_BITS;
    default:
        return 32 - field_shift(key, field);
    }
}

int top_key_pack(struct top_key *key, struct bt_error *error)
{
    unsigned bits = 0;
    for (unsigned i = key->count; i-- > 0;) {
        key->shifts[i] = bits;
        bits += field_bits(key, key->fields[i]);
    }
    if (bits > FREQUENT_KEY_BITS)
        return bt_fail(error, BT_USAGE,
                       "the keys have %u bits together, %u at most are possible: addresses have "
                       "32, lines and pages fewer, names 24, processors and types 8",
                       bits, FREQUENT_KEY_BITS);
    return 0;
}

static uint32_t field_value(const struct top_key *key, enum top_field field,
                            const struct record *record, uint32_t address, uint32_t instruction)
{
    switch (field) {
    case TOP_INSTRUCTION:
        return instruction;
    case TOP_PROCESSOR:
        return record->processor;
    case TOP_TYPE:
        return record->type;
    case TOP_SYMBOL:
        return places_find(key->places, address).symbol;
    case TOP_FUNCTION:
        return places_find(key->places, instruction).symbol;
    case TOP_SOURCE:
        return places_find(key->places, instruction).source;
    default:
        return address >> field_shift(key, field);
    }
}

uint64_t top_key_number(const struct top_key *key, const struct record *record, uint32_t address,
                        uint32_t instruction)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < key->count; i++)
        number |= (uint64_t)field_value(key, key->fields[i], record, address, instruction)
                  << key->shifts[i];
    return number;
}

uint32_t top_key_value(const struct top_key *key, uint64_t number, unsigned i)
{
    const enum top_field field = key->fields[i];
    const uint64_t mask = (UINT64_C(1) << field_bits(key, field)) - 1;
    return (uint32_t)((number >> key->shifts[i] & mask) << field_shift(key, field));
}

/* Text of a name; "" for none. */
static const char *name_of(const struct top_key *key, enum top_field field, uint32_t value,
                           uint32_t *line)
{
    const char *text = field == TOP_SOURCE ? places_source(key->places, value, line)
                                           : places_symbol(key->places, value);
    return text ? text : "";
}

int top_key_order(const void *context, uint64_t one, uint64_t other)
{
    const struct top_key *key = context;
    for (unsigned i = 0; i < key->count; i++) {
        const enum top_field field = key->fields[i];
        const uint32_t a = top_key_value(key, one, i), b = top_key_value(key, other, i);
        uint32_t line = 0, other_line = 0;
        if (a == b)
            continue;
        if (field_bits(key, field) == PLACES_BITS && field >= TOP_SYMBOL) {
            const int order =
                strcmp(name_of(key, field, a, &line), name_of(key, field, b, &other_line));
            if (order != 0)
                return order;
            if (line != other_line)
                return line < other_line ? -1 : 1;
        }
        return a < b ? -1 : 1;
    }
    return 0;
}
