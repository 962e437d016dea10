/*
 * Members of JSON objects, a key and its value, written with json_put. Text may be any octets that
 * end with a NUL; see json_put_string().
 */
#ifndef FORMATS_TEXT_JSON_MEMBERS_H
#define FORMATS_TEXT_JSON_MEMBERS_H

#include "formats/text/json_put.h"

#include <stdbool.h>
#include <stdint.h>

/* A string as an element of an array. */
void json_string(struct json_put *json, const char *text);

/* "key": value */
void json_text(struct json_put *json, const char *key, const char *value);
void json_text_or_null(struct json_put *json, const char *key, const char *value); /* null: empty */
void json_count(struct json_put *json, const char *key, uint64_t value);
void json_bool(struct json_put *json, const char *key, bool value);
void json_null(struct json_put *json, const char *key);

/* With at most 20 digits, and as "1.0" if integral; null if not finite. */
void json_real(struct json_put *json, const char *key, double value);

/* "key": 4.500, to the millisecond. */
void json_seconds(struct json_put *json, const char *key, double seconds);

/* "key": { or [, which json_put_object_end() or json_put_array_end() ends. */
void json_object(struct json_put *json, const char *key);
void json_array(struct json_put *json, const char *key);

#endif
