#include "formats/text/ini.h"

#include <stdbool.h>
#include <string.h>

/* A range of the text. */
struct ini_range {
    const char *start;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct ini_range trim(struct ini_range range)
{
    while (range.size && is_blank(range.start[0])) {
        range.start++;
        range.size--;
    }
    while (range.size && is_blank(range.start[range.size - 1]))
        range.size--;
    return range;
}

/* Names and keys: letters, digits, dots, dashes and underscores. */
static bool is_word(struct ini_range range)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    for (size_t i = 0; i < range.size; i++)
        if (!memchr(allowed, range.start[i], sizeof allowed - 1))
            return false;
    return range.size > 0 && range.size < INI_WORD_BYTES;
}

static void copy(char *out, struct ini_range range)
{
    memcpy(out, range.start, range.size);
    out[range.size] = '\0';
}

static struct ini_range next_line(struct ini *ini)
{
    struct ini_range range = {ini->text + ini->offset, 0};
    size_t left = ini->size - ini->offset;
    const char *newline = memchr(range.start, '\n', left);
    range.size = newline ? (size_t)(newline - range.start) : left;
    ini->offset += range.size + (newline != NULL);
    ini->line++;
    if (range.size && range.start[range.size - 1] == '\r')
        range.size--;
    return range;
}

static bool has_control_characters(struct ini_range range)
{
    for (size_t i = 0; i < range.size; i++) {
        unsigned char c = (unsigned char)range.start[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

/* "[kind]" or "[kind name]" */
static int parse_section(struct ini_range text, struct ini_line *line, struct bt_error *error)
{
    if (text.start[text.size - 1] != ']')
        return bt_fail(error, BT_USAGE, "a section's name ends with ]");
    struct ini_range kind = trim((struct ini_range){text.start + 1, text.size - 2});
    struct ini_range name = {kind.start, 0};
    for (size_t i = 0; i < kind.size && name.size == 0; i++)
        if (is_blank(kind.start[i])) {
            name = trim((struct ini_range){kind.start + i, kind.size - i});
            kind.size = i;
        }
    if (!is_word(kind) || (name.size && !is_word(name)))
        return bt_fail(error, BT_USAGE,
                       "a section is [kind] or [kind NAME], both at most %u letters, digits, dots, "
                       "dashes and underscores",
                       INI_WORD_BYTES - 1);
    copy(line->section, kind);
    copy(line->name, name);
    return 1;
}

/* "key = value" */
static int parse_key(struct ini_range text, struct ini_line *line, struct bt_error *error)
{
    const char *equals = memchr(text.start, '=', text.size);
    if (!equals)
        return bt_fail(error, BT_USAGE, "expected \"key = value\", a [section] or a # comment");
    size_t before = (size_t)(equals - text.start);
    struct ini_range key = trim((struct ini_range){text.start, before});
    struct ini_range value = trim((struct ini_range){equals + 1, text.size - before - 1});
    if (!is_word(key))
        return bt_fail(error, BT_USAGE, "the text before = is not a key");
    if (value.size >= INI_VALUE_BYTES)
        return bt_fail(error, BT_USAGE, "a value has at most %u bytes", INI_VALUE_BYTES - 1);
    copy(line->key, key);
    copy(line->value, value);
    return 1;
}

void ini_begin(struct ini *ini, const char *text, size_t size)
{
    *ini = (struct ini){.text = text, .size = size};
}

int ini_next(struct ini *ini, struct ini_line *line, struct bt_error *error)
{
    while (ini->offset < ini->size) {
        struct ini_range text = next_line(ini);
        line->number = ini->line;
        line->section[0] = line->name[0] = line->key[0] = line->value[0] = '\0';
        if (has_control_characters(text))
            return bt_fail(error, BT_USAGE, "there is a control character in this line");
        text = trim(text);
        if (text.size == 0 || text.start[0] == '#' || text.start[0] == ';')
            continue;
        return text.start[0] == '[' ? parse_section(text, line, error)
                                    : parse_key(text, line, error);
    }
    return 0;
}
