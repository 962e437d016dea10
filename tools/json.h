/* JSON objects that the commands print for scripts; capture/json.h has their members. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include "capture/json.h"

#include <stdio.h>

/* A generator that prints for people and programs. NULL: no memory. Free with yajl_gen_free. */
yajl_gen json_new(void);

/* "key": "2026-11-20T22:45:00.123Z", or null for 0: nanoseconds since 1970, UTC. */
void json_time(yajl_gen json, const char *key, int64_t realtime_ns);

/* Writes what was generated, and behind a whole object a newline, to standard output. */
void json_print(yajl_gen json);

/* The same to out; the caller looks for errors there. */
void json_put(yajl_gen json, FILE *out);

#endif
