#include "formats/wet/wet_history.h"

#include "formats/base/digits.h"
#include "formats/text/json_scan.h"

#include <string.h>

#define ARROW              " --> "
#define ARROW_BYTES        5u
#define ADDRESS_DIGITS_MAX 16u

static char *put_place(char *out, const struct wet_history_place *place)
{
    char digits[ADDRESS_DIGITS_MAX + 8]; /* 8: digits_put_hexadecimal() */
    char *end = digits_put_hexadecimal(digits, (uint32_t)(place->address >> 32));
    end = digits_put_hexadecimal(end, (uint32_t)place->address);
    const char *begin = digits;
    while (begin < end - 1 && *begin == '0')
        begin++;
    *out++ = '0';
    *out++ = 'x';
    memcpy(out, begin, (size_t)(end - begin));
    out += end - begin;
    *out++ = '#';
    return digits_put_decimal(out, place->instance);
}

char *wet_history_put(char *out, const struct wet_history_line *line)
{
    out = put_place(out, &line->reader);
    memcpy(out, ARROW, ARROW_BYTES);
    out = put_place(out + ARROW_BYTES, &line->writer);
    *out++ = '\n';
    return out;
}

/* A digit's value; 16: it is none. */
static unsigned digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return (unsigned)(digit - '0');
    return digit >= 'a' && digit <= 'f' ? (unsigned)(digit - 'a') + 10 : 16;
}

/* Lower-case hexadecimal digits without leading zeros. */
static bool get_address(const char *text, size_t size, uint64_t *address)
{
    *address = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned digit = digit_value(text[i]);
        if (digit == 16)
            return false;
        *address = *address << 4 | digit;
    }
    return size > 0 && size <= ADDRESS_DIGITS_MAX && (text[0] != '0' || size == 1);
}

static bool get_place(const char *text, size_t size, struct wet_history_place *place)
{
    const char *mark = memchr(text, '#', size);
    if (!mark || size < 2 || memcmp(text, "0x", 2) != 0 || mark < text + 2)
        return false;
    const char *instance = mark + 1;
    const size_t digits = size - (size_t)(instance - text);
    return get_address(text + 2, (size_t)(mark - (text + 2)), &place->address) && digits > 0 &&
           (instance[0] != '0' || digits == 1) &&
           json_scan_decimal(instance, digits, &place->instance);
}

bool wet_history_get(const char *text, size_t size, struct wet_history_line *line)
{
    const char *arrow = memchr(text, ' ', size);
    const size_t before = arrow ? (size_t)(arrow - text) : size;
    if (size - before < ARROW_BYTES || memcmp(arrow, ARROW, ARROW_BYTES) != 0)
        return false;
    const size_t after = before + ARROW_BYTES;
    return get_place(text, before, &line->reader) &&
           get_place(text + after, size - after, &line->writer);
}
