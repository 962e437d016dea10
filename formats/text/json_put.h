/*
 * Writes JSON sequentially: adds commas and escapes strings. No call fails before
 * json_put_finish(): the first failure is kept, nothing is written after it, and json_put_finish()
 * returns it. formats/text/json_members.h writes a key and its value in one call.
 */
#ifndef FORMATS_TEXT_JSON_PUT_H
#define FORMATS_TEXT_JSON_PUT_H

#include "formats/base/error.h"
#include "formats/text/text_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_put;

/* Writes to writer, which the caller owns and must keep. NULL and *error without memory. */
struct json_put *json_put_new(struct text_writer *writer, struct bt_error *error);

/*
 * Writes to a stream, which the caller owns and must keep. Indented: for people, two spaces a
 * level, and a newline after the document; else on one line without a newline. Unlike in files, \u
 * escapes have capital digits. NULL without memory.
 */
struct json_put *json_put_new_stream(FILE *stream, bool indented);

/* Collects a document in memory, as on a stream that is not indented. NULL without memory. */
struct json_put *json_put_new_memory(void);

/* Ends and frees a writer to memory (or NULL). Returns the text, which ends with a NUL and the
 * caller frees, and, unless size is NULL, its size without the NUL; NULL without memory. */
char *json_put_take(struct json_put *put, size_t *size);

/* Passes all output to the writer (which the caller finishes) or the stream. 0 or the first
 * failure; error may be NULL. */
int json_put_finish(struct json_put *put, struct bt_error *error);
void json_put_free(struct json_put *put);

/* Whether a write failed: further output is useless. */
bool json_put_failed(const struct json_put *put);

void json_put_array(struct json_put *put);
void json_put_array_end(struct json_put *put);
void json_put_object(struct json_put *put);
void json_put_object_end(struct json_put *put);

/* A member's key; its value comes next. */
void json_put_key(struct json_put *put, const char *key);

void json_put_integer(struct json_put *put, uint64_t value);

/* A number in printf's format; null if it is not finite. */
void json_put_number(struct json_put *put, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void json_put_boolean(struct json_put *put, bool value);
void json_put_null(struct json_put *put);

/* "0x400000", as DCFG writes addresses. */
void json_put_hex(struct json_put *put, uint64_t value);

/* Octets that are not UTF-8 become U+FFFD one by one. */
void json_put_string(struct json_put *put, const char *text, size_t size);

/* The same for one string of two texts; a character of UTF-8 is in one of them. */
void json_put_joined(struct json_put *put, const char *text, size_t size, const char *tail,
                     size_t tail_size);

/* Begins a new line before what comes next; before json_put_take(), ends the last line. */
void json_put_line(struct json_put *put);

#endif
