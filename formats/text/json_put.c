#include "formats/text/json_put.h"

#include "formats/text/json_scan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)128 << 10)
#define SMALL_BYTES  64u  /* more than any integer with its comma and newline */
#define NUMBER_BYTES 352u /* more than any double in printf's formats */

struct json_put {
    char *at, *end; /* end: SMALL_BYTES before the buffer's */
    bool comma;     /* a value precedes in this array or object */
    bool line;      /* a newline is due */
    bool indented;  /* each element and member is on a separate line */
    bool keyed;     /* a key precedes, so that its value follows on the same line */
    unsigned depth; /* number of open arrays and objects */
    int failed;
    const char *digits; /* of \u escapes */
    struct text_writer *writer;
    FILE *stream; /* the output if there is no writer */
    char *memory; /* the stream's collected text; valid after it is closed */
    size_t memory_size;
    struct bt_error error;
    char buffer[BUFFER_BYTES + SMALL_BYTES];
};

/* The buffer is not zeroed: most reports use little of it. */
static struct json_put *put_new(void)
{
    struct json_put *put = malloc(sizeof *put);
    if (!put)
        return NULL;
    memset(put, 0, offsetof(struct json_put, buffer));
    put->at = put->buffer;
    put->end = put->buffer + BUFFER_BYTES;
    return put;
}

struct json_put *json_put_new(struct text_writer *writer, struct bt_error *error)
{
    struct json_put *put = put_new();
    if (!put) {
        bt_fail(error, BT_MEMORY, "no memory to write %s", text_writer_name(writer));
        return NULL;
    }
    put->digits = "0123456789abcdef";
    put->writer = writer;
    return put;
}

struct json_put *json_put_new_stream(FILE *stream, bool indented)
{
    struct json_put *put = put_new();
    if (!put)
        return NULL;
    put->digits = "0123456789ABCDEF";
    put->stream = stream;
    put->indented = indented;
    return put;
}

struct json_put *json_put_new_memory(void)
{
    struct json_put *put = json_put_new_stream(NULL, false);
    if (put && !(put->stream = open_memstream(&put->memory, &put->memory_size))) {
        free(put);
        return NULL;
    }
    return put;
}

void json_put_free(struct json_put *put)
{
    free(put);
}

bool json_put_failed(const struct json_put *put)
{
    return put->failed < 0;
}

static void flush(struct json_put *put)
{
    size_t size = (size_t)(put->at - put->buffer);
    if (put->failed == 0 && put->writer)
        put->failed = text_writer_put(put->writer, put->buffer, size, &put->error);
    else if (put->failed == 0 && fwrite(put->buffer, 1, size, put->stream) < size)
        put->failed = bt_fail_errno(&put->error, "cannot write JSON");
    put->at = put->buffer;
}

int json_put_finish(struct json_put *put, struct bt_error *error)
{
    flush(put);
    if (put->failed < 0 && error)
        *error = put->error;
    return put->failed;
}

char *json_put_take(struct json_put *put, size_t *size)
{
    if (!put)
        return NULL;
    if (put->line)
        *put->at++ = '\n';
    flush(put);
    if (fclose(put->stream) != 0 || put->failed < 0) {
        free(put->memory);
        put->memory = NULL;
    }
    char *text = put->memory;
    if (size)
        *size = put->memory_size;
    free(put);
    return text;
}

/* Begins a line, with two spaces for each open array and object. */
static void indent(struct json_put *put)
{
    *put->at++ = '\n';
    for (unsigned i = 0; i <= put->depth; i++) {
        if (put->at >= put->end)
            flush(put);
        if (i < put->depth) {
            memcpy(put->at, "  ", 2);
            put->at += 2;
        }
    }
}

/* Makes room for SMALL_BYTES and writes the separator before a value or key. */
static inline void begin(struct json_put *put)
{
    if (put->at >= put->end)
        flush(put);
    if (put->comma)
        *put->at++ = ',';
    if (put->indented && put->depth > 0 && !put->keyed)
        indent(put);
    put->keyed = false;
    if (put->line)
        *put->at++ = '\n';
    put->line = false;
}

/* Octets verbatim, any number. */
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

/* A value other than a string. */
static void put_word(struct json_put *put, const char *text)
{
    begin(put);
    put_plain(put, text, strlen(text));
    put->comma = true;
}

static inline void open_bracket(struct json_put *put, char bracket)
{
    begin(put);
    *put->at++ = bracket;
    put->comma = false;
    put->depth++;
}

static inline void close_bracket(struct json_put *put, char bracket)
{
    bool last = --put->depth == 0;
    bool empty = !put->comma;
    put->comma = false;
    /* an empty one contains an empty line */
    if (put->indented && (empty || last))
        put_plain(put, "\n\n", (size_t)empty + last);
    begin(put);
    *put->at++ = bracket;
    if (put->indented && last)
        *put->at++ = '\n';
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
    if (put->indented)
        *put->at++ = ' ';
    put->keyed = true;
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

void json_put_number(struct json_put *put, const char *format, ...)
{
    char text[NUMBER_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_word(put, (unsigned char)(text[text[0] == '-'] - '0') < 10 ? text : "null");
}

void json_put_boolean(struct json_put *put, bool value)
{
    put_word(put, value ? "true" : "false");
}

void json_put_null(struct json_put *put)
{
    put_word(put, "null");
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

/* An octet that must be escaped in a string. */
static void put_escaped(struct json_put *put, unsigned char octet)
{
    static const char named[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    const char *found = octet ? strchr(named, octet) : NULL;
    if (found) {
        *put->at++ = '\\';
        *put->at++ = names[found - named];
    } else if (octet < 0xa0) { /* a control character, a C1 one by its second octet */
        memcpy(put->at, "\\u00", 4);
        put->at[4] = put->digits[octet >> 4];
        put->at[5] = put->digits[octet & 15];
        put->at += 6;
    }
}

/* The first character that JSON allows but a terminal interprets: DEL, and the C1 characters; end
 * if there is none. */
static const char *find_control(const char *text, const char *end)
{
    const char *del = memchr(text, 0x7f, (size_t)(end - text));
    end = del ? del : end;
    for (const char *at = text; (at = memchr(at, 0xc2, (size_t)(end - at))); at++)
        if ((unsigned char)at[1] < 0xa0)
            return at;
    return end;
}

/* The inside of a string, or a part of it. */
static void put_octets(struct json_put *put, const char *text, size_t size)
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

void json_put_string(struct json_put *put, const char *text, size_t size)
{
    json_put_joined(put, text, size, "", 0);
}

void json_put_joined(struct json_put *put, const char *text, size_t size, const char *tail,
                     size_t tail_size)
{
    begin(put);
    *put->at++ = '"';
    put_octets(put, text, size);
    put_octets(put, tail, tail_size);
    if (put->at >= put->end)
        flush(put);
    *put->at++ = '"';
    put->comma = true;
}
