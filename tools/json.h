/* JSON objects for scripts, through yajl: the few calls that the commands need. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <yajl/yajl_gen.h>

/* A generator that prints for people and programs. NULL: no memory. Free with yajl_gen_free. */
yajl_gen json_new(void);

/* "key": */
void json_key(yajl_gen json, const char *key);

/* "key": value. Text need not be UTF-8: octets that are not are told as U+FFFD. */
void json_text(yajl_gen json, const char *key, const char *value);
void json_count(yajl_gen json, const char *key, uint64_t value);
void json_bool(yajl_gen json, const char *key, bool value);

/* "key": "2026-11-20T22:45:00.123Z", or null for 0: nanoseconds since 1970, UTC. */
void json_time(yajl_gen json, const char *key, int64_t realtime_ns);

/* Writes what was generated, and a newline, to standard output. */
void json_print(yajl_gen json);

#endif
