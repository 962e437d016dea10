#include "tools/json.h"

#include "tools/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

yajl_gen json_new(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    if (json) {
        yajl_gen_config(json, yajl_gen_beautify, 1);
        yajl_gen_config(json, yajl_gen_indent_string, "  ");
    }
    return json;
}

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

static void put_string(yajl_gen json, const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    char *clean = malloc(3 * strlen(text) + 1);
    if (!clean) {
        yajl_gen_null(json);
        return;
    }
    size_t size = 0;
    while (*text) {
        size_t length = utf8_length((const unsigned char *)text);
        memcpy(clean + size, length ? text : replacement, length ? length : 3);
        size += length ? length : 3;
        text += length ? length : 1;
    }
    yajl_gen_string(json, (const unsigned char *)clean, size);
    free(clean);
}

void json_key(yajl_gen json, const char *key)
{
    put_string(json, key);
}

void json_text(yajl_gen json, const char *key, const char *value)
{
    json_key(json, key);
    put_string(json, value);
}

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

void json_time(yajl_gen json, const char *key, int64_t realtime_ns)
{
    char text[WORDS_TIME_BYTES];
    json_key(json, key);
    if (realtime_ns == 0)
        yajl_gen_null(json);
    else
        put_string(json, words_time(text, realtime_ns));
}

void json_print(yajl_gen json)
{
    const unsigned char *text;
    size_t size;
    if (yajl_gen_get_buf(json, &text, &size) == yajl_gen_status_ok)
        fwrite(text, 1, size, stdout);
}
