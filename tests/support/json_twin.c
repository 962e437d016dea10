#include "tests/support/json_twin.h"

#include "formats/text/json_scan.h"
#include "tests/support/random.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64u

struct cursor {
    const char *at, *end;
};

static bool take(struct cursor *cursor, char c)
{
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static void space(struct cursor *cursor)
{
    while (take(cursor, ' ') || take(cursor, '\t') || take(cursor, '\n') || take(cursor, '\r'))
        ;
}

static bool digit(struct cursor *cursor)
{
    if (cursor->at == cursor->end || *cursor->at < '0' || *cursor->at > '9')
        return false;
    cursor->at++;
    return true;
}

static bool digits(struct cursor *cursor)
{
    bool some = false;
    while (digit(cursor))
        some = true;
    return some;
}

static bool number(struct cursor *cursor)
{
    take(cursor, '-');
    if (!take(cursor, '0') && !digits(cursor))
        return false;
    if (take(cursor, '.') && !digits(cursor))
        return false;
    if (take(cursor, 'e') || take(cursor, 'E')) {
        if (!take(cursor, '+'))
            take(cursor, '-');
        return digits(cursor);
    }
    return true;
}

static long unit(struct cursor *cursor)
{
    char text[5] = "";
    for (int i = 0; i < 4; i++) {
        if (cursor->at == cursor->end || !isxdigit((unsigned char)*cursor->at))
            return -1;
        text[i] = *cursor->at++;
    }
    return strtol(text, NULL, 16);
}

static bool escape(struct cursor *cursor)
{
    if (cursor->at == cursor->end)
        return false;
    char c = *cursor->at++;
    if (c != 'u')
        return c != '\0' && strchr("\"\\/bfnrt", c) != NULL;
    long first = unit(cursor);
    if (first < 0 || (first >= 0xdc00 && first <= 0xdfff))
        return false;
    if (first < 0xd800 || first > 0xdbff)
        return true;
    if (!take(cursor, '\\') || !take(cursor, 'u'))
        return false;
    long second = unit(cursor);
    return second >= 0xdc00 && second <= 0xdfff;
}

/* Decodes a character, and checks that its encoding is the shortest. */
static bool character(struct cursor *cursor)
{
    unsigned char first = (unsigned char)*cursor->at++;
    if (first < 0x80)
        return first >= 0x20;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
    if (more < 0 || first >= 0xf8)
        return false;
    unsigned long code = first & (0x3fu >> more);
    for (int i = 0; i < more; i++) {
        if (cursor->at == cursor->end || ((unsigned char)*cursor->at & 0xc0) != 0x80)
            return false;
        code = code << 6 | ((unsigned char)*cursor->at++ & 0x3f);
    }
    static const unsigned long least[] = {0, 0x80, 0x800, 0x10000};
    return code >= least[more] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

static bool string(struct cursor *cursor)
{
    if (!take(cursor, '"'))
        return false;
    while (cursor->at < cursor->end) {
        if (take(cursor, '"'))
            return true;
        if (take(cursor, '\\') ? !escape(cursor) : !character(cursor))
            return false;
    }
    return false;
}

static bool word(struct cursor *cursor, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, text, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

static bool value(struct cursor *cursor, unsigned depth);

/* Decodes a valid string; cursor is after its opening quote. Free the result. */
static char *decode(struct cursor cursor, size_t *size)
{
    static const char letters[] = "bfnrt";
    static const char meanings[] = "\b\f\n\r\t";
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (!file)
        abort();
    while (*cursor.at != '"') {
        char c = *cursor.at++;
        if (c != '\\') {
            fputc(c, file);
            continue;
        }
        c = *cursor.at++;
        if (c != 'u') {
            const char *letter = strchr(letters, c);
            fputc(letter ? meanings[letter - letters] : c, file);
            continue;
        }
        char utf8[4];
        uint32_t character = (uint32_t)unit(&cursor);
        if (character >= 0xd800 && character < 0xe000) {
            cursor.at += 2;
            character = 0x10000 + (character - 0xd800) * 0x400 + (uint32_t)unit(&cursor) - 0xdc00;
        }
        fwrite(utf8, 1, json_scan_put_utf8(utf8, character), file);
    }
    if (fclose(file) != 0)
        abort();
    return text;
}

/* The keys of an object. */
struct keys {
    char **texts;
    size_t *sizes;
    size_t count;
};

/* Returns false if the key exists already. */
static bool add_key(struct keys *keys, struct cursor cursor)
{
    size_t size;
    char *text = decode(cursor, &size);
    bool fresh = true;
    for (size_t i = 0; i < keys->count; i++)
        fresh = fresh && (keys->sizes[i] != size || memcmp(keys->texts[i], text, size) != 0);
    keys->texts = realloc(keys->texts, (keys->count + 1) * sizeof *keys->texts);
    keys->sizes = realloc(keys->sizes, (keys->count + 1) * sizeof *keys->sizes);
    if (!keys->texts || !keys->sizes)
        abort();
    keys->texts[keys->count] = text;
    keys->sizes[keys->count++] = size;
    return fresh;
}

/* "key": in an object. */
static bool key(struct cursor *cursor, struct keys *keys)
{
    space(cursor);
    struct cursor text = {.at = cursor->at + 1, .end = cursor->end};
    if (!string(cursor) || !add_key(keys, text))
        return false;
    space(cursor);
    return take(cursor, ':');
}

static bool members(struct cursor *cursor, unsigned depth, char close, bool object)
{
    struct keys keys = {.count = 0};
    if (depth > DEPTH_MAX)
        return false;
    space(cursor);
    if (take(cursor, close))
        return true;
    bool good = true;
    do
        good = (!object || key(cursor, &keys)) && value(cursor, depth);
    while (good && take(cursor, ','));
    for (size_t i = 0; i < keys.count; i++)
        free(keys.texts[i]);
    free(keys.texts);
    free(keys.sizes);
    return good && take(cursor, close);
}

static bool value(struct cursor *cursor, unsigned depth)
{
    bool good;
    space(cursor);
    if (cursor->at == cursor->end)
        return false;
    switch (*cursor->at) {
    case '[':
    case '{':
        good = *cursor->at++ == '[' ? members(cursor, depth + 1, ']', false)
                                    : members(cursor, depth + 1, '}', true);
        break;
    case '"':
        good = string(cursor);
        break;
    case 't':
        good = word(cursor, "true");
        break;
    case 'f':
        good = word(cursor, "false");
        break;
    case 'n':
        good = word(cursor, "null");
        break;
    default:
        good = number(cursor);
    }
    space(cursor);
    return good;
}

bool json_twin_valid(const char *text, size_t size)
{
    struct cursor cursor = {.at = text, .end = text + size};
    return value(&cursor, 0) && cursor.at == cursor.end;
}

/* --- random documents --- */

static void random_value(uint64_t *state, FILE *file, unsigned depth)
{
    static const char *const scalars[] = {"0",
                                          "-1",
                                          "3.25",
                                          "1e9",
                                          "-0.0E-2",
                                          "18446744073709551615",
                                          "true",
                                          "false",
                                          "null",
                                          "\"\"",
                                          "\"abcdefghijklmnop\"",
                                          "\"\\u00e9\\ud83d\\ude00\"",
                                          "\"\xc3\xa9\xf0\x9f\x98\x80\"",
                                          "\"a\\\"b\\\\c\\/\\n\"",
                                          "\"0x400000\""};
    static const char *const spaces[] = {"", "", "", " ", "\n", "\t \r\n"};
    unsigned kind = (unsigned)random_below(state, 4);
    fputs(spaces[random_below(state, 6)], file);
    if (depth >= 5 || kind > 1) {
        fputs(scalars[random_below(state, sizeof scalars / sizeof *scalars)], file);
    } else {
        unsigned count = (unsigned)random_below(state, 5);
        fputc(kind ? '{' : '[', file);
        for (unsigned i = 0; i < count; i++) {
            fputs(i > 0 ? "," : "", file);
            if (kind)
                fprintf(file, "%s\"key %u\"%s:", spaces[random_below(state, 6)], i,
                        spaces[random_below(state, 6)]);
            random_value(state, file, depth + 1);
        }
        fputs(spaces[random_below(state, 6)], file);
        fputc(kind ? '}' : ']', file);
    }
    fputs(spaces[random_below(state, 6)], file);
}

char *json_twin_random(uint64_t *state, size_t *size)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, size);
    if (!file)
        abort();
    random_value(state, file, 0);
    if (fclose(file) != 0)
        abort();
    return text;
}
