#include "formats/json_put.h"

#include "formats/json_scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)128 << 10)
#define SMALL_BYTES  64u /* more than any number with its comma and line */

struct json_put {
    char *at, *end; /* end: SMALL_BYTES before the buffer's */
    bool comma;     /* a value came before in this array or object */
    bool line;      /* a new line is wanted */
    int failed;
    struct text_writer *writer;
    struct bt_error error;
    char buffer[BUFFER_BYTES + SMALL_BYTES];
};

struct json_put *json_put_new(struct text_writer *writer, struct bt_error *error)
{
    struct json_put *put = malloc(sizeof *put);
    if (!put) {
        bt_fail(error, BT_MEMORY, "no memory to write %s", text_writer_name(writer));
        return NULL;
    }
    put->at = put->buffer;
    put->end = put->buffer + BUFFER_BYTES;
    put->comma = put->line = false;
    put->failed = 0;
    put->writer = writer;
    return put;
}

void json_put_free(struct json_put *put)
{
    free(put);
}

static void flush(struct json_put *put)
{
    if (put->failed == 0)
        put->failed =
            text_writer_put(put->writer, put->buffer, (size_t)(put->at - put->buffer), &put->error);
    put->at = put->buffer;
}

int json_put_finish(struct json_put *put, struct bt_error *error)
{
    flush(put);
    if (put->failed < 0 && error)
        *error = put->error;
    return put->failed;
}

/* Room for SMALL_BYTES, and what has to be in front of a value or key. */
static inline void begin(struct json_put *put)
{
    if (put->at >= put->end)
        flush(put);
    if (put->comma)
        *put->at++ = ',';
    if (put->line)
        *put->at++ = '\n';
    put->line = false;
}

static inline void open_bracket(struct json_put *put, char bracket)
{
    begin(put);
    *put->at++ = bracket;
    put->comma = false;
}

static inline void close_bracket(struct json_put *put, char bracket)
{
    put->comma = false;
    begin(put);
    *put->at++ = bracket;
    put->comma = true;
}

void json_put_array(struct json_put *put)
{
    open_bracket(put, '[');
}

void json_put_array_end(struct json_put *put)
{
    close_bracket(put, ']');
}

void json_put_object(struct json_put *put)
{
    open_bracket(put, '{');
}

void json_put_object_end(struct json_put *put)
{
    close_bracket(put, '}');
}

void json_put_key(struct json_put *put, const char *key)
{
    json_put_string(put, key, strlen(key));
    *put->at++ = ':';
    put->comma = false;
}

void json_put_line(struct json_put *put)
{
    put->line = true;
}

void json_put_integer(struct json_put *put, uint64_t value)
{
    char digits[20];
    unsigned size = 0;
    begin(put);
    do {
        digits[sizeof digits - ++size] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(put->at, digits + sizeof digits - size, size);
    put->at += size;
    put->comma = true;
}

void json_put_hex(struct json_put *put, uint64_t value)
{
    static const char letters[] = "0123456789abcdef";
    unsigned size = 1;
    begin(put);
    while (size < 16 && value >> 4 * size > 0)
        size++;
    memcpy(put->at, "\"0x", 3);
    put->at += 3;
    while (size-- > 0)
        *put->at++ = letters[value >> 4 * size & 15];
    *put->at++ = '"';
    put->comma = true;
}

void json_put_string(struct json_put *put, const char *text, size_t size)
{
    json_put_string_begin(put);
    json_put_string_more(put, text, size);
    json_put_string_end(put);
}

void json_put_string_begin(struct json_put *put)
{
    begin(put);
    *put->at++ = '"';
}

/* An octet that must not be in a string as it is. */
static void put_escaped(struct json_put *put, unsigned char octet)
{
    static const char letters[] = "0123456789abcdef";
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    const char *found = octet ? strchr(named, octet) : NULL;
    if (found) {
        *put->at++ = '\\';
        *put->at++ = names[found - named];
    } else if (octet < 0xa0) { /* a control character, a C1 one by its second octet */
        memcpy(put->at, "\\u00", 4);
        put->at[4] = letters[octet >> 4];
        put->at[5] = letters[octet & 15];
        put->at += 6;
    }
}

/* What may be in a string, but would be obeyed by a terminal that the file is shown on: DEL, and
 * the C1 characters. Returns where the first one is, or end. */
static const char *find_control(const char *text, const char *end)
{
    const char *del = memchr(text, 0x7f, (size_t)(end - text));
    end = del ? del : end;
    for (const char *at = text; (at = memchr(at, 0xc2, (size_t)(end - at))); at++)
        if ((unsigned char)at[1] < 0xa0)
            return at;
    return end;
}

/* Octets that may be in a string as they are, any number. */
static void put_plain(struct json_put *put, const char *text, size_t size)
{
    while (size > 0) {
        if (put->at >= put->end)
            flush(put);
        size_t room = (size_t)(put->end - put->at);
        size_t step = size < room ? size : room;
        memcpy(put->at, text, step);
        put->at += step;
        text += step;
        size -= step;
    }
}

void json_put_string_more(struct json_put *put, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        const char *plain = json_scan_string(text, end);
        const char *stop = find_control(text, plain);
        put_plain(put, text, (size_t)(stop - text));
        text = stop;
        if (text == end)
            continue;
        if (put->at >= put->end)
            flush(put);
        if (stop == plain && (unsigned char)*text >= 0x80) {
            put->at += json_scan_put_utf8(put->at, 0xfffd);
            text++;
        } else {
            text += (unsigned char)*text == 0xc2;
            put_escaped(put, (unsigned char)*text++);
        }
    }
}

void json_put_string_end(struct json_put *put)
{
    if (put->at >= put->end)
        flush(put);
    *put->at++ = '"';
    put->comma = true;
}
