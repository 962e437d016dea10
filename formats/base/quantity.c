#include "formats/base/quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MOST 9u /* after a point, that count */

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit *unit_find(const struct unit *units, const char *suffix)
{
    for (; units->suffix; units++)
        if (strcasecmp(units->suffix, suffix) == 0)
            return units;
    return NULL;
}

/* Digits after a point, as a fraction of factor; nine digits count. */
static uint64_t fraction(const char **text, uint64_t factor)
{
    uint64_t numerator = 0;
    uint64_t denominator = 1;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        if (denominator < 1000000000u) {
            numerator = numerator * 10 + (uint64_t)(**text - '0');
            denominator *= 10;
        }
    return (uint64_t)((long double)factor * (long double)numerator / (long double)denominator);
}

/* Whether the digits after a point, times factor, leave parts of 1. */
static bool names_parts(const char *digits, uint64_t factor)
{
    uint64_t numerator = 0;
    uint64_t denominator = 1;
    size_t used = strspn(digits, "0123456789");
    while (used > 0 && digits[used - 1] == '0')
        used--;
    if (used > DIGITS_MOST)
        return true;
    for (size_t i = 0; i < used; i++, denominator *= 10)
        numerator = numerator * 10 + (uint64_t)(digits[i] - '0');
    return factor % denominator * numerator % denominator != 0;
}

/* A number, whole or with a point, and one of the units: exact in 64 bits. Parts of 1 are refused
 * if the number is `exact`, else cut. */
static int quantity_parse(uint64_t *value, const char *text, const struct unit *units, bool exact,
                          const char *example, struct bt_error *error)
{
    if (text[0] < '0' || text[0] > '9')
        return bt_fail(error, BT_USAGE, "\"%.40s\" is not a number such as %s", text, example);
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    errno = 0;
    uint64_t whole = strtoull(text, &end, hexadecimal ? 16 : 10);
    bool too_large = errno == ERANGE;
    const char *digits = *end == '.' && !hexadecimal ? end + 1 : NULL;
    const char *suffix = end;
    if (digits) {
        fraction(&digits, 1);
        suffix = digits;
    }
    const struct unit *unit = unit_find(units, suffix);
    if (!unit)
        return bt_fail(error, BT_USAGE, "\"%.40s\" is not a number such as %s", text, example);
    if (digits && (exact || unit->factor == 1) && names_parts(end + 1, unit->factor))
        return bt_fail(error, BT_USAGE, "\"%.40s\" is not a whole number such as %s", text,
                       example);
    uint64_t part = 0;
    if (digits) {
        const char *again = end + 1;
        part = fraction(&again, unit->factor);
    }
    uint64_t product;
    if (too_large || __builtin_mul_overflow(whole, unit->factor, &product) ||
        __builtin_add_overflow(product, part, value))
        return bt_fail(error, BT_USAGE, "\"%.40s\" is too large", text);
    return 0;
}

int quantity_bytes(uint64_t *bytes, const char *text, struct bt_error *error)
{
    static const struct unit units[] = {{"", 1},
                                        {"B", 1},
                                        {"K", 1ull << 10},
                                        {"KB", 1ull << 10},
                                        {"KiB", 1ull << 10},
                                        {"M", 1ull << 20},
                                        {"MB", 1ull << 20},
                                        {"MiB", 1ull << 20},
                                        {"G", 1ull << 30},
                                        {"GB", 1ull << 30},
                                        {"GiB", 1ull << 30},
                                        {"T", 1ull << 40},
                                        {"TB", 1ull << 40},
                                        {"TiB", 1ull << 40},
                                        {NULL, 0}};
    return quantity_parse(bytes, text, units, true, "4096, 64K, 20M or 1G", error);
}

int quantity_duration(int64_t *nanoseconds, const char *text, struct bt_error *error)
{
    static const struct unit units[] = {
        {"", 1000000000},      {"ns", 1},          {"us", 1000},         {"ms", 1000000},
        {"s", 1000000000},     {"m", 60000000000}, {"min", 60000000000}, {"h", 3600000000000},
        {"d", 86400000000000}, {NULL, 0}};
    uint64_t value;
    int result = quantity_parse(&value, text, units, false, "250ms, 10s, 5m or 1h", error);
    if (result < 0)
        return result;
    if (value > INT64_MAX)
        return bt_fail(error, BT_USAGE, "\"%.40s\" is too large", text);
    *nanoseconds = (int64_t)value;
    return 0;
}

int quantity_count(uint64_t *count, const char *text, struct bt_error *error)
{
    static const struct unit units[] = {{"", 1},           {"k", 1000},          {"M", 1000000},
                                        {"G", 1000000000}, {"T", 1000000000000}, {NULL, 0}};
    return quantity_parse(count, text, units, true, "1000, 5k, 2M or 0x100", error);
}

char *quantity_text(char *text, uint64_t number)
{
    char digits[QUANTITY_TEXT_BYTES];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}
