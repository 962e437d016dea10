/* JSON objects that commands print for scripts; formats/text/json_members.h writes the members. */
#ifndef TOOLS_COMMON_JSON_REPORT_H
#define TOOLS_COMMON_JSON_REPORT_H

#include "formats/text/json_members.h"

#include <stdio.h>

/* Begins an indented object on a stream. NULL: no memory. */
struct json_put *json_report_begin(FILE *out);

/* Ends the object and frees the report. The caller checks the stream for errors. */
void json_report_end(struct json_put *json);

/* "key": "2026-11-20T22:45:00.123Z", or null for 0: nanoseconds since 1970, UTC. */
void json_time(struct json_put *json, const char *key, int64_t realtime_ns);

#endif
