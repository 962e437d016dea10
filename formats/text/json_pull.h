/*
 * JSON (RFC 8259), read forward: the caller requests the value that must come next. Only requested
 * values are stored; values of any size can be skipped, or read in parts in bounded memory. Input
 * may be any octets: an error is BT_DATA, and the message names the file, the path in the document,
 * the line and the offset:
 *
 *     x.json: PROCESSES[1][1].EDGES[5][2] (line 812, offset 20113): a string that is not an ...
 *
 * To read an object:
 *
 *     int result = json_pull_object(pull);
 *     while (result >= 0 && (result = json_pull_key(pull, &key)) > 0)
 *         result = is_known(&key) ? json_pull_integer(pull, &value) : json_pull_skip(pull);
 *
 * and an array with json_pull_array() and json_pull_element() likewise. Each element and each key's
 * value must be read or skipped before the next one is requested. A duplicate key is BT_DATA, even
 * if it is skipped: readers differ in which of the two values they use.
 *
 * Unless strict, it also accepts two deviations that occur in practice and in the examples of the
 * DCFG specification: a comma after the last element or member, and leading zeros of a number.
 */
#ifndef FORMATS_TEXT_JSON_PULL_H
#define FORMATS_TEXT_JSON_PULL_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/text/text_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_pull;

struct json_pull_settings {
    uint32_t depth_max; /* levels of arrays and objects */
    size_t string_max;  /* bytes of a string or key that is read whole */
    size_t keys_max;    /* bytes of memory for the keys of all open objects */
    uint64_t text_max;  /* bytes of text, decompressed */
    /* Bytes of text for each byte of the file, after the first 64 MiB: protects from files made to
     * expand without end. 0: any. */
    uint64_t expansion_max;
    bool strict; /* exactly RFC 8259 */
};

/* Depth 64, strings of 16 MiB, keys of 256 MiB, text of 1 TiB, expanded at most 1000 times, not
 * strict. */
struct json_pull_settings json_pull_settings_default(void);

enum json_pull_kind {
    JSON_PULL_NULL,
    JSON_PULL_FALSE,
    JSON_PULL_TRUE,
    JSON_PULL_NUMBER,
    JSON_PULL_STRING,
    JSON_PULL_ARRAY,
    JSON_PULL_OBJECT
};

/* UTF-8, checked; may hold NUL characters, and no NUL follows it. Valid until the next call. */
struct json_pull_text {
    const char *text;
    size_t size;
};

bool json_pull_text_is(const struct json_pull_text *text, const char *wanted);

/*
 * Reads from reader, which the caller owns and must keep; settings may be NULL. *error must outlive
 * the result: every function below that returns a negative bt_code has filled it. NULL and *error
 * without memory.
 */
struct json_pull *json_pull_new(struct text_reader *reader,
                                const struct json_pull_settings *settings, struct bt_error *error);
void json_pull_free(struct json_pull *pull);

/* The kind of the next value (a json_pull_kind), without reading it; or negative. */
int json_pull_kind(struct json_pull *pull);

/* Enters an array. 0, or BT_DATA if the next value is something else. */
int json_pull_array(struct json_pull *pull);

/* In an array: 1 if there is another element, which comes next; 0 at its end, which is left. */
int json_pull_element(struct json_pull *pull);

/* Enters an object. */
int json_pull_object(struct json_pull *pull);

/* In an object: 1 and the next member's key, whose value comes next; 0 at its end, which is left.
 */
int json_pull_key(struct json_pull *pull, struct json_pull_text *key);

/*
 * An integer from 0 to 2^64 - 1: a number without fraction and exponent, or a string with an
 * integer as in C ("0x400000", also "4194304" and octal "020000000"), DCFG 1.00 section 1.2.1.
 */
int json_pull_integer(struct json_pull *pull, uint64_t *value);

struct NAMED_FIELDS json_pull_bounds {
    uint64_t minimum, maximum;
};

/* As json_pull_integer; a value outside the bounds is BT_DATA. */
int json_pull_integer_within(struct json_pull *pull, const struct json_pull_bounds *bounds,
                             uint64_t *value);

/*
 * In an array: reads integer elements in the usual form, up to room. The n-th must be within
 * bounds[n], or all within *bounds if same is set. Returns their number. 0 says nothing about the
 * next element: it may be the array's end, an integer outside its bounds, at the end of the buffer
 * or in another form; json_pull_element() must be called as usual. Never fails; many times as fast
 * as single calls.
 */
size_t json_pull_integers(struct json_pull *pull, const struct json_pull_bounds *bounds, bool same,
                          uint64_t *values, size_t room);

/* Any number, as the nearest double. */
int json_pull_number(struct json_pull *pull, double *value);

/* A string, whole. */
int json_pull_string(struct json_pull *pull, struct json_pull_text *text);

/* A string of any length in bounded memory: begin, then parts (of at least one byte) until 0. A
 * part never ends within a character. */
int json_pull_string_begin(struct json_pull *pull);
int json_pull_string_piece(struct json_pull *pull, struct json_pull_text *piece);

/* Skips the next value of any kind, and checks its syntax. */
int json_pull_skip(struct json_pull *pull);

/* 0 if only white space follows, else BT_DATA. */
int json_pull_end(struct json_pull *pull);

/* Fails with code at the current position: the value read last, or the next one. */
int json_pull_fail(struct json_pull *pull, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The path, as text, of the value read last or the next one; truncated to room. */
void json_pull_path(const struct json_pull *pull, char *path, size_t room);

/* Whether the reader is strict. */
bool json_pull_is_strict(const struct json_pull *pull);

/* The offset in the text of the next value, in bytes. */
uint64_t json_pull_offset(const struct json_pull *pull);

#endif
