#include "formats/text/json_members.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void json_string(struct json_put *json, const char *text)
{
    json_put_string(json, text, strlen(text));
}

void json_text(struct json_put *json, const char *key, const char *value)
{
    json_put_key(json, key);
    json_string(json, value);
}

void json_text_or_null(struct json_put *json, const char *key, const char *value)
{
    if (value[0])
        json_text(json, key, value);
    else
        json_null(json, key);
}

void json_count(struct json_put *json, const char *key, uint64_t value)
{
    json_put_key(json, key);
    json_put_integer(json, value);
}

void json_bool(struct json_put *json, const char *key, bool value)
{
    json_put_key(json, key);
    json_put_boolean(json, value);
}

void json_null(struct json_put *json, const char *key)
{
    json_put_key(json, key);
    json_put_null(json);
}

void json_real(struct json_put *json, const char *key, double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.20g", value);
    json_put_key(json, key);
    json_put_number(json, strpbrk(digits, ".en") ? "%s" : "%s.0", digits);
}

void json_seconds(struct json_put *json, const char *key, double seconds)
{
    json_put_key(json, key);
    json_put_number(json, "%.3f", seconds);
}

void json_object(struct json_put *json, const char *key)
{
    json_put_key(json, key);
    json_put_object(json);
}

void json_array(struct json_put *json, const char *key)
{
    json_put_key(json, key);
    json_put_array(json);
}
