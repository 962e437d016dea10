#include "formats/text/json_pull.h"

#include "formats/text/json_keys.h"
#include "formats/text/json_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES     ((size_t)256 << 10)
#define PADDING_BYTES    16u  /* zeros after the buffer: a sentinel, and room to read words */
#define NUMBER_BYTES_MAX 512u /* longer numbers are rejected */
#define ESCAPE_BYTES_MAX 12u  /* two halves of a surrogate pair */
#define FRAME_KEY_BYTES  47u  /* enough for every tag of DCFG; longer keys are cut in paths */
#define PATH_BYTES       256u
#define EXPANSION_FREE   ((uint64_t)64 << 20) /* text allowed from any number of bytes */

/* An open array or object. */
struct json_level {
    uint64_t index; /* of the element; in an object, the number of members so far */
    bool object;
    bool fresh; /* no element or member has been requested yet */
    uint8_t key_size;
    char key[FRAME_KEY_BYTES];
};

/* A growing buffer, for strings that cannot be returned in place. */
struct octet_buffer {
    char *data;
    size_t size, capacity;
};

struct json_pull {
    const char *at;  /* the next octet */
    const char *end; /* end of the data; *end is 0 */
    char *buffer;
    bool ended;      /* no text follows end */
    bool in_string;  /* after json_pull_string_begin(), before the string's end */
    int failed;      /* the first failure's code */
    uint64_t offset; /* of buffer[0] in the text */
    uint64_t line;   /* of at, from 1 */
    struct text_reader *reader;
    struct bt_error *error;
    struct json_pull_settings settings;
    struct octet_buffer key, string;
    struct json_keys keys;
    char escape[4]; /* a character decoded from an escape */
    uint32_t depth;
    struct json_level *frames;
};

struct json_pull_settings json_pull_settings_default(void)
{
    return (struct json_pull_settings){.depth_max = 64,
                                       .string_max = (size_t)16 << 20,
                                       .keys_max = (size_t)256 << 20,
                                       .text_max = (uint64_t)1 << 40,
                                       .expansion_max = 1000,
                                       .strict = false};
}

bool json_pull_text_is(const struct json_pull_text *text, const char *wanted)
{
    return strlen(wanted) == text->size && memcmp(text->text, wanted, text->size) == 0;
}

struct json_pull *json_pull_new(struct text_reader *reader,
                                const struct json_pull_settings *settings, struct bt_error *error)
{
    struct json_pull *pull = calloc(1, sizeof *pull);
    if (!pull)
        goto failed;
    pull->settings = settings ? *settings : json_pull_settings_default();
    pull->keys.bytes_max = pull->settings.keys_max;
    pull->buffer = calloc(1, BUFFER_BYTES + PADDING_BYTES);
    pull->frames = calloc((size_t)pull->settings.depth_max + 1, sizeof *pull->frames);
    if (!pull->buffer || !pull->frames)
        goto failed;
    pull->at = pull->end = pull->buffer;
    pull->line = 1;
    pull->reader = reader;
    pull->error = error;
    return pull;
failed:
    json_pull_free(pull);
    bt_fail(error, BT_MEMORY, "no memory to read %s", text_reader_name(reader));
    return NULL;
}

void json_pull_free(struct json_pull *pull)
{
    if (!pull)
        return;
    free(pull->buffer);
    free(pull->frames);
    free(pull->key.data);
    free(pull->string.data);
    json_keys_free(&pull->keys);
    free(pull);
}

/* --- positions and errors ------------------------------------------------------------------------
 */

void json_pull_path(const struct json_pull *pull, char *path, size_t room)
{
    size_t used = 0;
    if (room > 0)
        path[0] = '\0';
    for (uint32_t i = 0; i < pull->depth && used < room; i++) {
        const struct json_level *frame = &pull->frames[i];
        int size;
        if (frame->object && frame->key_size == 0)
            size = 0;
        else if (frame->object)
            size = snprintf(path + used, room - used, "%s%.*s", i > 0 ? "." : "",
                            (int)frame->key_size, frame->key);
        else
            size = snprintf(path + used, room - used, "[%llu]", (unsigned long long)frame->index);
        used += (size_t)size;
    }
}

bool json_pull_is_strict(const struct json_pull *pull)
{
    return pull->settings.strict;
}

uint64_t json_pull_offset(const struct json_pull *pull)
{
    return pull->offset + (uint64_t)(pull->at - pull->buffer);
}

int json_pull_fail(struct json_pull *pull, int code, const char *format, ...)
{
    char path[PATH_BYTES];
    struct bt_error inner;
    if (pull->failed < 0)
        return pull->failed;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(inner.message, sizeof inner.message, format, arguments);
    va_end(arguments);
    json_pull_path(pull, path, sizeof path);
    pull->failed = code;
    return bt_fail(pull->error, code, "%s: %s%s(line %llu, offset %llu): %s",
                   text_reader_name(pull->reader), path, path[0] ? " " : "",
                   (unsigned long long)pull->line, (unsigned long long)json_pull_offset(pull),
                   inner.message);
}

/* Fails: the next value or token is not the expected one. */
static int unexpected(struct json_pull *pull, const char *wanted)
{
    unsigned char octet = (unsigned char)*pull->at;
    if (pull->failed < 0)
        return pull->failed;
    if (pull->at == pull->end)
        return json_pull_fail(pull, BT_DATA, "the text ends where %s is expected", wanted);
    if (octet > ' ' && octet < 0x7f)
        return json_pull_fail(pull, BT_DATA, "'%c' where %s is expected", octet, wanted);
    return json_pull_fail(pull, BT_DATA, "octet 0x%02x where %s is expected", octet, wanted);
}

/* --- octets ------------------------------------------------------------------------------------
 */

/* Fails if the text up to offset size exceeds a limit. */
static int check_size(struct json_pull *pull, uint64_t size)
{
    const struct json_pull_settings *settings = &pull->settings;
    if (size > settings->text_max)
        return json_pull_fail(pull, BT_DATA, "more text than %llu bytes: the limit",
                              (unsigned long long)settings->text_max);
    if (size > EXPANSION_FREE && settings->expansion_max > 0 &&
        size / settings->expansion_max > text_reader_offset(pull->reader))
        return json_pull_fail(pull, BT_DATA,
                              "the compressed data expands to more than %llu times its size: the "
                              "limit",
                              (unsigned long long)settings->expansion_max);
    return 0;
}

/* Moves the data to the front of the buffer and reads more after it. 1, 0 at the end of the text,
 * or negative. */
static int refill(struct json_pull *pull)
{
    size_t left = (size_t)(pull->end - pull->at);
    size_t got = 0;
    if (pull->ended || pull->failed < 0)
        return pull->failed;
    memmove(pull->buffer, pull->at, left);
    pull->offset += (uint64_t)(pull->at - pull->buffer);
    pull->at = pull->buffer;
    pull->failed =
        text_reader_read(pull->reader, pull->buffer + left, BUFFER_BYTES - left, &got, pull->error);
    if (pull->failed < 0)
        got = 0;
    pull->end = pull->buffer + left + got;
    memset(pull->buffer + left + got, 0, PADDING_BYTES);
    pull->ended = got == 0;
    if (pull->failed == 0)
        check_size(pull, pull->offset + left + got);
    return pull->failed < 0 ? pull->failed : !pull->ended;
}

/* Reads until wanted octets (far fewer than the buffer holds) are available, or the text ends. */
static inline int ensure(struct json_pull *pull, size_t wanted)
{
    while ((size_t)(pull->end - pull->at) < wanted) {
        int result = refill(pull);
        if (result <= 0)
            return result;
    }
    return 0;
}

static char next_token_slowly(struct json_pull *pull)
{
    for (;;) {
        char c = *pull->at;
        if (c == '\n')
            pull->line++;
        else if (c != ' ' && c != '\t' && c != '\r') {
            if (c != '\0' || pull->at < pull->end || refill(pull) <= 0)
                return c;
            continue;
        }
        pull->at++;
    }
}

/* Advances to the next token; returns its first octet, 0 at the end (or for a NUL). */
static inline char next_token(struct json_pull *pull)
{
    char c = *pull->at;
    if ((unsigned char)c > ' ')
        return c;
    if (c == ' ') {
        c = pull->at[1];
        if ((unsigned char)c > ' ') {
            pull->at++;
            return c;
        }
    }
    return next_token_slowly(pull);
}

/* --- arrays and objects ------------------------------------------------------------------------
 */

static int enter(struct json_pull *pull, bool object)
{
    if (pull->depth >= pull->settings.depth_max)
        return json_pull_fail(pull, BT_DATA, "more than %u levels of arrays and objects",
                              (unsigned)pull->settings.depth_max);
    struct json_level *frame = &pull->frames[pull->depth++];
    frame->index = 0;
    frame->object = object;
    frame->fresh = true;
    frame->key_size = 0;
    pull->at++;
    return 0;
}

int json_pull_array(struct json_pull *pull)
{
    return next_token(pull) == '[' ? enter(pull, false) : unexpected(pull, "an array");
}

int json_pull_object(struct json_pull *pull)
{
    return next_token(pull) == '{' ? enter(pull, true) : unexpected(pull, "an object");
}

/* Before an element or member: 1 if there is one, 0 after the closing bracket. */
static inline int go_on(struct json_pull *pull, struct json_level *frame, char close)
{
    char c = next_token(pull);
    if (frame->fresh) {
        frame->fresh = false;
    } else if (c == ',') {
        pull->at++;
        c = next_token(pull);
        if (c == close && pull->settings.strict)
            return unexpected(pull, frame->object ? "a key" : "a value");
        frame->index++;
    } else if (c != close) {
        return unexpected(pull, frame->object ? "',' or '}'" : "',' or ']'");
    }
    if (c != close)
        return 1;
    pull->at++;
    if (frame->object)
        json_keys_leave(&pull->keys, pull->depth);
    pull->depth--;
    return 0;
}

int json_pull_element(struct json_pull *pull)
{
    if (pull->failed < 0)
        return pull->failed;
    return go_on(pull, &pull->frames[pull->depth - 1], ']');
}

static int append(struct json_pull *pull, struct octet_buffer *octets, const char *data,
                  size_t size)
{
    if (size > pull->settings.string_max - octets->size)
        return json_pull_fail(pull, BT_DATA, "a string of more than %zu bytes: the limit",
                              pull->settings.string_max);
    if (octets->size + size >= octets->capacity) {
        size_t capacity = 2 * (octets->size + size) + 64;
        char *grown = realloc(octets->data, capacity);
        if (!grown)
            return json_pull_fail(pull, BT_MEMORY, "no memory for a string");
        octets->data = grown;
        octets->capacity = capacity;
    }
    memcpy(octets->data + octets->size, data, size);
    octets->size += size;
    return 0;
}

/* Stores a key of the innermost object; a duplicate is a failure. */
static int note_key(struct json_pull *pull, const struct json_pull_text *key)
{
    switch (json_keys_add(&pull->keys, pull->depth, key->text, key->size)) {
    case JSON_KEYS_NEW:
        return 0;
    case JSON_KEYS_DUPLICATE:
        return json_pull_fail(pull, BT_DATA, "duplicate key \"%.*s\"",
                              (int)(key->size < FRAME_KEY_BYTES ? key->size : FRAME_KEY_BYTES),
                              key->text);
    case JSON_KEYS_FULL:
        return json_pull_fail(pull, BT_DATA, "keys of more than %zu bytes: the limit",
                              pull->settings.keys_max);
    default:
        return json_pull_fail(pull, BT_MEMORY, "no memory for a key");
    }
}

int json_pull_key(struct json_pull *pull, struct json_pull_text *key)
{
    if (pull->failed < 0)
        return pull->failed;
    struct json_level *frame = &pull->frames[pull->depth - 1];
    int result = go_on(pull, frame, '}');
    if (result <= 0)
        return result;
    if (next_token(pull) != '"')
        return unexpected(pull, "a key");
    /* the next value is no longer the last key's */
    frame->key_size = 0;
    result = json_pull_string(pull, key);
    if (result < 0)
        return result;
    /* reading the colon may refill the buffer, which invalidates the key */
    pull->key.size = 0;
    result = append(pull, &pull->key, key->text, key->size);
    if (result < 0)
        return result;
    key->text = pull->key.data;
    size_t kept = key->size < FRAME_KEY_BYTES ? key->size : FRAME_KEY_BYTES;
    memcpy(frame->key, key->text, kept);
    frame->key_size = (uint8_t)kept;
    result = note_key(pull, key);
    if (result < 0)
        return result;
    if (next_token(pull) != ':')
        return unexpected(pull, "':'");
    pull->at++;
    return 1;
}

/* --- strings -----------------------------------------------------------------------------------
 */

/* The four digits of \uXXXX after the u; negative if they are not hexadecimal. */
static int32_t escape_unit(const char *digits)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = json_scan_hex_digit(digits[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* A \u escape at pull->at; returns its length, or 0 if it is invalid. The padding bounds the
 * reads. */
static size_t unicode_escape(const struct json_pull *pull, uint32_t *character)
{
    int32_t first = escape_unit(pull->at + 2);
    if (first < 0 || (first >= 0xdc00 && first < 0xe000))
        return 0;
    *character = (uint32_t)first;
    if (first < 0xd800 || first >= 0xe000)
        return 6;
    int32_t second =
        pull->at[6] == '\\' && pull->at[7] == 'u' ? escape_unit(pull->at + 8) : (int32_t)-1;
    if (second < 0xdc00 || second >= 0xe000)
        return 0;
    *character = 0x10000 + ((uint32_t)first - 0xd800) * 0x400 + ((uint32_t)second - 0xdc00);
    return 12;
}

static int escape_piece(struct json_pull *pull, struct json_pull_text *piece)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    int result = ensure(pull, ESCAPE_BYTES_MAX);
    if (result < 0)
        return result;
    piece->text = pull->escape;
    const char *letter = pull->at[1] ? strchr(letters, pull->at[1]) : NULL;
    if (letter) {
        pull->escape[0] = meanings[letter - letters];
        piece->size = 1;
        pull->at += 2;
        return 1;
    }
    uint32_t character = 0;
    size_t size = pull->at[1] == 'u' ? unicode_escape(pull, &character) : 0;
    if (size == 0)
        return json_pull_fail(pull, BT_DATA, "an invalid escape in a string");
    pull->at += size;
    piece->size = json_scan_put_utf8(pull->escape, character);
    return 1;
}

int json_pull_string_begin(struct json_pull *pull)
{
    if (next_token(pull) != '"')
        return unexpected(pull, "a string");
    pull->at++;
    pull->in_string = true;
    return 0;
}

int json_pull_string_piece(struct json_pull *pull, struct json_pull_text *piece)
{
    if (pull->failed < 0 || !pull->in_string)
        return pull->failed;
    int result = ensure(pull, 4); /* the longest character */
    if (result < 0)
        return result;
    const char *stop = json_scan_string(pull->at, pull->end);
    if (stop > pull->at) {
        *piece = (struct json_pull_text){pull->at, (size_t)(stop - pull->at)};
        pull->at = stop;
        return 1;
    }
    if (stop == pull->end)
        return json_pull_fail(pull, BT_DATA, "the text ends within a string");
    if (*stop == '\\')
        return escape_piece(pull, piece);
    if (*stop != '"')
        return json_pull_fail(pull, BT_DATA,
                              (unsigned char)*stop < ' '
                                  ? "a control character (0x%02x) in a string"
                                  : "octet 0x%02x in a string: not UTF-8",
                              (unsigned)(unsigned char)*stop);
    pull->at++;
    pull->in_string = false;
    *piece = (struct json_pull_text){pull->at, 0};
    return 0;
}

/* A string that cannot be returned in place, gathered from its parts. */
static int gather_string(struct json_pull *pull, struct json_pull_text *text)
{
    struct json_pull_text piece;
    int result;
    pull->string.size = 0;
    pull->in_string = true;
    while ((result = json_pull_string_piece(pull, &piece)) > 0) {
        result = append(pull, &pull->string, piece.text, piece.size);
        if (result < 0)
            return result;
    }
    *text =
        (struct json_pull_text){pull->string.size > 0 ? pull->string.data : "", pull->string.size};
    return result;
}

int json_pull_string(struct json_pull *pull, struct json_pull_text *text)
{
    if (next_token(pull) != '"')
        return unexpected(pull, "a string");
    pull->at++;
    const char *stop = json_scan_string(pull->at, pull->end);
    size_t size = (size_t)(stop - pull->at);
    if (*stop != '"' || size > pull->settings.string_max)
        return gather_string(pull, text);
    *text = (struct json_pull_text){pull->at, size};
    pull->at = stop + 1;
    return 0;
}

/* --- numbers and words -------------------------------------------------------------------------
 */

/* A number at pull->at, RFC 8259 section 6; returns its length, or negative. */
static int scan_number(struct json_pull *pull, bool *integer)
{
    int result = ensure(pull, NUMBER_BYTES_MAX + 1);
    if (result < 0)
        return result;
    size_t size = json_scan_number(pull->at, pull->settings.strict, integer);
    if (size == 0)
        return json_pull_fail(pull, BT_DATA, "an invalid number");
    if (size > NUMBER_BYTES_MAX)
        return json_pull_fail(pull, BT_DATA, "a number of more than %u characters",
                              NUMBER_BYTES_MAX);
    return (int)size;
}

static bool begins_number(char c)
{
    return c == '-' || (unsigned char)(c - '0') < 10;
}

static int integer_of_string(struct json_pull *pull, uint64_t *value)
{
    struct json_pull_text text;
    int result = json_pull_string(pull, &text);
    if (result == 0 && !json_scan_c_integer(text.text, text.size, value))
        return json_pull_fail(pull, BT_DATA,
                              "a string that is not an integer, where one is expected (\"%.*s\")",
                              (int)(text.size < 40 ? text.size : 40), text.text);
    return result;
}

/* Numbers that are not plain digits: reports the error. */
static int odd_integer(struct json_pull *pull, uint64_t *value)
{
    bool integer = false;
    int size = scan_number(pull, &integer);
    if (size < 0)
        return size;
    if (!integer || *pull->at == '-')
        return json_pull_fail(pull, BT_DATA, "%.*s where an integer of 0 or more is expected",
                              size < 40 ? size : 40, pull->at);
    if (!json_scan_decimal(pull->at, (size_t)size, value))
        return json_pull_fail(pull, BT_DATA, "an integer of more than 64 bits");
    pull->at += size;
    return 0;
}

int json_pull_integer(struct json_pull *pull, uint64_t *value)
{
    char c = next_token(pull);
    if (c == '"')
        return integer_of_string(pull, value);
    if (!begins_number(c))
        return unexpected(pull, "an integer");
    /* up to 19 digits without a leading zero, all in the buffer: nearly every number */
    const char *at = pull->at;
    uint64_t sum = (uint64_t)(c - '0');
    const char *limit = at + 19 < pull->end ? at + 19 : pull->end;
    if (c != '-' && (c != '0' || (unsigned char)(at[1] - '0') >= 10)) {
        unsigned digit;
        for (at++; at < limit && (digit = (unsigned char)(*at - '0')) < 10; at++)
            sum = sum * 10 + digit;
        if (at < limit && *at != '.' && *at != 'e' && *at != 'E') {
            pull->at = at;
            *value = sum;
            return 0;
        }
    }
    return odd_integer(pull, value);
}

int json_pull_integer_within(struct json_pull *pull, const struct json_pull_bounds *bounds,
                             uint64_t *value)
{
    int result = json_pull_integer(pull, value);
    if (result < 0 || (*value >= bounds->minimum && *value <= bounds->maximum))
        return result;
    return json_pull_fail(pull, BT_DATA, "%llu where an integer from %llu to %llu is expected",
                          (unsigned long long)*value, (unsigned long long)bounds->minimum,
                          (unsigned long long)bounds->maximum);
}

/* An integer at at in the usual form: up to 18 digits without a leading zero, or "0x" and up to 15
 * digits. Returns its end, or NULL. */
static inline const char *plain_integer(const char *at, uint64_t *value)
{
    uint64_t sum = (unsigned char)(*at - '0');
    if (sum < 10) {
        const char *begin = at++;
        unsigned digit;
        for (; (digit = (unsigned char)(*at - '0')) < 10; at++)
            sum = sum * 10 + digit;
        if (at - begin > 18 || (*begin == '0' && at - begin > 1))
            return NULL;
    } else {
        if (at[0] != '"' || at[1] != '0' || at[2] != 'x')
            return NULL;
        at += 3;
        const char *begin = at;
        int digit;
        sum = 0;
        for (; (digit = json_scan_hex_digit(*at)) >= 0; at++)
            sum = sum << 4 | (unsigned)digit;
        if (*at != '"' || at - begin > 15 || at == begin)
            return NULL;
        at++;
    }
    *value = sum;
    /* a fraction, or the end of the buffer, must not follow */
    return *at == ',' || *at == ']' || *at == ' ' || *at == '\n' ? at : NULL;
}

size_t json_pull_integers(struct json_pull *pull, const struct json_pull_bounds *bounds, bool same,
                          uint64_t *values, size_t room)
{
    struct json_level *frame = &pull->frames[pull->depth - 1];
    const char *at = pull->at;
    bool fresh = frame->fresh;
    size_t count = 0;
    while (count < room) {
        if (!fresh && *at++ != ',')
            break;
        if (*at == ' ')
            at++;
        at = plain_integer(at, &values[count]);
        if (!at || values[count] < bounds->minimum || values[count] > bounds->maximum)
            break;
        pull->at = at;
        fresh = false;
        count++;
        bounds += !same;
    }
    if (count > 0) {
        frame->index += count - frame->fresh;
        frame->fresh = false;
    }
    return count;
}

int json_pull_number(struct json_pull *pull, double *value)
{
    bool integer = false;
    if (!begins_number(next_token(pull)))
        return unexpected(pull, "a number");
    int size = scan_number(pull, &integer);
    if (size < 0)
        return size;
    char text[NUMBER_BYTES_MAX + 1];
    memcpy(text, pull->at, (size_t)size);
    text[size] = '\0';
    *value = strtod(text, NULL);
    pull->at += size;
    return 0;
}

/* One of JSON's words. */
static int word(struct json_pull *pull, const char *text)
{
    size_t size = strlen(text);
    int result = ensure(pull, size);
    if (result < 0)
        return result;
    if (strncmp(pull->at, text, size) != 0)
        return unexpected(pull, "a value");
    pull->at += size;
    return 0;
}

int json_pull_kind(struct json_pull *pull)
{
    char c = next_token(pull);
    if (pull->failed < 0)
        return pull->failed;
    switch (c) {
    case '[':
        return JSON_PULL_ARRAY;
    case '{':
        return JSON_PULL_OBJECT;
    case '"':
        return JSON_PULL_STRING;
    case 't':
        return JSON_PULL_TRUE;
    case 'f':
        return JSON_PULL_FALSE;
    case 'n':
        return JSON_PULL_NULL;
    default:
        return begins_number(c) ? (int)JSON_PULL_NUMBER : unexpected(pull, "a value");
    }
}

/* --- the rest ----------------------------------------------------------------------------------
 */

/* Skips a scalar value, or enters an array or object. */
static int skip_or_enter(struct json_pull *pull)
{
    struct json_pull_text piece;
    bool integer;
    int result = json_pull_kind(pull);
    switch (result) {
    case JSON_PULL_ARRAY:
    case JSON_PULL_OBJECT:
        return enter(pull, result == JSON_PULL_OBJECT);
    case JSON_PULL_STRING:
        result = json_pull_string_begin(pull);
        while (result >= 0 && (result = json_pull_string_piece(pull, &piece)) > 0)
            ;
        return result;
    case JSON_PULL_NUMBER:
        result = scan_number(pull, &integer);
        pull->at += result < 0 ? 0 : result;
        return result < 0 ? result : 0;
    case JSON_PULL_TRUE:
        return word(pull, "true");
    case JSON_PULL_FALSE:
        return word(pull, "false");
    case JSON_PULL_NULL:
        return word(pull, "null");
    default:
        return result;
    }
}

int json_pull_skip(struct json_pull *pull)
{
    struct json_pull_text key;
    uint32_t depth = pull->depth;
    int result = skip_or_enter(pull);
    while (result >= 0 && pull->depth > depth) {
        result = pull->frames[pull->depth - 1].object ? json_pull_key(pull, &key)
                                                      : json_pull_element(pull);
        if (result > 0)
            result = skip_or_enter(pull);
    }
    return result;
}

int json_pull_end(struct json_pull *pull)
{
    char c = next_token(pull);
    if (pull->failed < 0)
        return pull->failed;
    return c == '\0' && pull->at == pull->end
               ? 0
               : json_pull_fail(pull, BT_DATA, "data after the end of the document");
}
