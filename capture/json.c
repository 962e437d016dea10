#include "capture/json.h"

#include "formats/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest that a character becomes: "\u001B". */
#define ESCAPE_BYTES_MAX 6u

/* The character of length octets at text (0: it is no UTF-8), as it may be in a string and on a
 * terminal. Returns how many octets were put. */
static size_t put_character(char *to, const char *text, size_t length)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    unsigned char octet = (unsigned char)*text;
    const char *found = strchr(named, octet);
    bool c1 = length == 2 && octet == 0xc2 && (unsigned char)text[1] < 0xa0;
    if (length == 0)
        return (size_t)sprintf(to, "\xef\xbf\xbd");
    if (found)
        return (size_t)sprintf(to, "\\%c", names[found - named]);
    if (octet < 0x20 || octet == 0x7f || c1)
        return (size_t)sprintf(to, "\\u00%02X", c1 ? (unsigned char)text[1] : octet);
    memcpy(to, text, length);
    return length;
}

void json_string(yajl_gen json, const char *text)
{
    const char *end = text + strlen(text);
    char *literal = malloc(ESCAPE_BYTES_MAX * (size_t)(end - text) + 3);
    if (!literal) {
        yajl_gen_null(json);
        return;
    }
    size_t size = 0;
    literal[size++] = '"';
    while (text < end) {
        size_t length = utf8_length(text, end);
        size += put_character(literal + size, text, length);
        text += length ? length : 1;
    }
    literal[size++] = '"';
    /* yajl would put DEL and the C1 characters as they are; a number it puts as it is */
    yajl_gen_number(json, literal, size);
    free(literal);
}

void json_key(yajl_gen json, const char *key)
{
    yajl_gen_string(json, (const unsigned char *)key, strlen(key));
}

void json_text(yajl_gen json, const char *key, const char *value)
{
    json_key(json, key);
    json_string(json, value);
}

/* A count may be above what yajl's signed integers hold. */
void json_count(yajl_gen json, const char *key, uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_key(json, key);
    yajl_gen_number(json, digits, (size_t)length);
}

void json_bool(yajl_gen json, const char *key, bool value)
{
    json_key(json, key);
    yajl_gen_bool(json, value);
}

void json_real(yajl_gen json, const char *key, double value)
{
    json_key(json, key);
    yajl_gen_double(json, value);
}

void json_seconds(yajl_gen json, const char *key, double seconds)
{
    char text[40];
    int length = snprintf(text, sizeof text, "%.3f", seconds);
    json_key(json, key);
    yajl_gen_number(json, text, (size_t)length);
}
