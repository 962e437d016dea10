/*
 * JSON, written forward: commas come by themselves, strings are escaped. Nothing fails on the way;
 * the first failure is kept, nothing is written after it, and json_put_finish() tells it.
 */
#ifndef FORMATS_JSON_PUT_H
#define FORMATS_JSON_PUT_H

#include "formats/base/error.h"
#include "formats/text_writer.h"

#include <stddef.h>
#include <stdint.h>

struct json_put;

/* Writes to writer, which stays the caller's and must outlive it. NULL and *error without memory.
 */
struct json_put *json_put_new(struct text_writer *writer, struct bt_error *error);

/* Hands everything to the writer (which the caller finishes). 0 or the first failure. */
int json_put_finish(struct json_put *put, struct bt_error *error);
void json_put_free(struct json_put *put);

void json_put_array(struct json_put *put);
void json_put_array_end(struct json_put *put);
void json_put_object(struct json_put *put);
void json_put_object_end(struct json_put *put);

/* A member's key; its value comes next. */
void json_put_key(struct json_put *put, const char *key);

void json_put_integer(struct json_put *put, uint64_t value);

/* "0x400000", as DCFG has addresses. */
void json_put_hex(struct json_put *put, uint64_t value);

/* Octets that are not UTF-8 become U+FFFD one by one. */
void json_put_string(struct json_put *put, const char *text, size_t size);

/* A string in pieces: begin, more, end. A character must not be divided between two pieces. */
void json_put_string_begin(struct json_put *put);
void json_put_string_more(struct json_put *put, const char *text, size_t size);
void json_put_string_end(struct json_put *put);

/* Begins a new line in front of what comes next. */
void json_put_line(struct json_put *put);

#endif
