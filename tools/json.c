#include "tools/json.h"

#include "capture/json_text.h"
#include "tools/words.h"

#include <inttypes.h>
#include <stdio.h>

yajl_gen json_new(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    if (json) {
        yajl_gen_config(json, yajl_gen_beautify, 1);
        yajl_gen_config(json, yajl_gen_indent_string, "  ");
    }
    return json;
}

void json_key(yajl_gen json, const char *key)
{
    json_text_put(json, key);
}

void json_text(yajl_gen json, const char *key, const char *value)
{
    json_key(json, key);
    json_text_put(json, value);
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
        json_text_put(json, words_time(text, realtime_ns));
}

void json_print(yajl_gen json)
{
    const unsigned char *text;
    size_t size;
    if (yajl_gen_get_buf(json, &text, &size) == yajl_gen_status_ok)
        fwrite(text, 1, size, stdout);
}
