#include "capture/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";
#define REPLACEMENT_BYTES (sizeof replacement - 1)

/* Bytes of the UTF-8 character at text (RFC 3629, section 4), 0 if there is none. */
static size_t utf8_length(const unsigned char *text)
{
    if (text[0] < 0x80)
        return 1;
    size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool surrogate = text[0] == 0xed && text[1] > 0x9f;
    bool too_large = text[0] == 0xf4 && text[1] > 0x8f;
    return overlong || surrogate || too_large ? 0 : length;
}

void json_string(yajl_gen json, const char *text)
{
    char *clean = malloc(REPLACEMENT_BYTES * strlen(text) + 1);
    if (!clean) {
        yajl_gen_null(json);
        return;
    }
    size_t size = 0;
    while (*text) {
        size_t length = utf8_length((const unsigned char *)text);
        size_t put = length ? length : REPLACEMENT_BYTES;
        memcpy(clean + size, length ? text : replacement, put);
        size += put;
        text += length ? length : 1;
    }
    yajl_gen_string(json, (const unsigned char *)clean, size);
    free(clean);
}

void json_key(yajl_gen json, const char *key)
{
    json_string(json, key);
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
