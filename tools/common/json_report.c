#include "tools/common/json_report.h"

#include "tools/common/words.h"

struct json_put *json_report_begin(FILE *out)
{
    struct json_put *json = json_put_new_stream(out, true);
    if (json)
        json_put_object(json);
    return json;
}

void json_report_end(struct json_put *json)
{
    json_put_object_end(json);
    (void)json_put_finish(json, NULL);
    json_put_free(json);
}

void json_time(struct json_put *json, const char *key, int64_t realtime_ns)
{
    char text[WORDS_TIME_BYTES];
    json_text_or_null(json, key, realtime_ns == 0 ? "" : words_time(text, realtime_ns));
}
