#include "tools/json.h"

#include "tools/words.h"

yajl_gen json_new(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    if (json) {
        yajl_gen_config(json, yajl_gen_beautify, 1);
        yajl_gen_config(json, yajl_gen_indent_string, "  ");
    }
    return json;
}

void json_time(yajl_gen json, const char *key, int64_t realtime_ns)
{
    char text[WORDS_TIME_BYTES];
    json_key(json, key);
    if (realtime_ns == 0)
        yajl_gen_null(json);
    else
        json_string(json, words_time(text, realtime_ns));
}

void json_put(yajl_gen json, FILE *out)
{
    const unsigned char *text;
    size_t size;
    if (yajl_gen_get_buf(json, &text, &size) == yajl_gen_status_ok)
        fwrite(text, 1, size, out);
}

void json_print(yajl_gen json)
{
    json_put(json, stdout);
}
