#include "formats/record/filter_words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The longest text fits: 16 types, 8 processors and 8 ranges take less. */
struct words {
    char *out;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size =
        vsnprintf(words->out + words->used, FILTER_WORDS_BYTES - words->used, format, arguments);
    va_end(arguments);
    words->used += size > 0 ? (size_t)size : 0;
}

/* `FIELD=` or `FIELD!=` and the values whose bits are set, or are not. */
static void put_bits(struct words *words, const char *field, uint32_t bits, unsigned count,
                     bool types)
{
    const uint32_t all = (1u << count) - 1;
    const bool others = 2 * (unsigned)__builtin_popcount(bits) > count;
    const char *before = others ? "!=" : "=";
    if (bits == all)
        return;
    put(words, "%s%s", words->used ? " and " : "", field);
    for (unsigned i = 0; i < count; i++) {
        if ((bits >> i & 1) == others)
            continue;
        if (types)
            put(words, "%s%s", before, request_type_name(request_type_at(i)));
        else
            put(words, "%s%u", before, i);
        before = "|";
    }
    if (bits == 0)
        put(words, "!=0-255");
}

char *filter_words(char out[FILTER_WORDS_BYTES], const struct filter *filter)
{
    struct words words = {.out = out};
    out[0] = '\0';
    put_bits(&words, "type", filter->types, REQUEST_TYPES, true);
    put_bits(&words, "processor", filter->processors, 8, false);
    if (filter->range_count > 0)
        put(&words, "%saddress", words.used ? " and " : "");
    for (unsigned i = 0; i < filter->range_count; i++) {
        const struct filter_range *range = &filter->ranges[i];
        put(&words, "%s0x%" PRIx32, i ? "|" : filter->outside ? "!=" : "=", range->low);
        if (range->high > range->low)
            put(&words, "-0x%" PRIx32, range->high);
    }
    return out;
}
