/*
 * Members of JSON objects, through yajl: the few calls that the daemon and the commands need. Text
 * may be any octets: what is not UTF-8 is told as U+FFFD, octet by octet.
 */
#ifndef CAPTURE_JSON_H
#define CAPTURE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <yajl/yajl_gen.h>

/* A text alone, or null where there is no memory to replace what is not UTF-8. */
void json_string(yajl_gen json, const char *text);

/* "key": */
void json_key(yajl_gen json, const char *key);

/* "key": value */
void json_text(yajl_gen json, const char *key, const char *value);
void json_count(yajl_gen json, const char *key, uint64_t value);
void json_bool(yajl_gen json, const char *key, bool value);
void json_real(yajl_gen json, const char *key, double value);

/* "key": 4.500, to the millisecond. */
void json_seconds(yajl_gen json, const char *key, double seconds);

#endif
