#include "formats/text/ini.h"

#include <stdbool.h>
#include <string.h>

/* A range of the text. */
struct piece {
    const char *start;
    size_t size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct piece trim(struct piece piece)
{
    while (piece.size && is_blank(piece.start[0])) {
        piece.start++;
        piece.size--;
    }
    while (piece.size && is_blank(piece.start[piece.size - 1]))
        piece.size--;
    return piece;
}

/* Names and keys: letters, digits, dots, dashes and underscores. */
static bool is_word(struct piece piece)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    for (size_t i = 0; i < piece.size; i++)
        if (!memchr(allowed, piece.start[i], sizeof allowed - 1))
            return false;
    return piece.size > 0 && piece.size < INI_WORD_BYTES;
}

static void copy(char *out, struct piece piece)
{
    memcpy(out, piece.start, piece.size);
    out[piece.size] = '\0';
}

static struct piece next_line(struct ini *ini)
{
    struct piece piece = {ini->text + ini->offset, 0};
    size_t left = ini->size - ini->offset;
    const char *newline = memchr(piece.start, '\n', left);
    piece.size = newline ? (size_t)(newline - piece.start) : left;
    ini->offset += piece.size + (newline != NULL);
    ini->line++;
    if (piece.size && piece.start[piece.size - 1] == '\r')
        piece.size--;
    return piece;
}

static bool has_control_characters(struct piece piece)
{
    for (size_t i = 0; i < piece.size; i++) {
        unsigned char c = (unsigned char)piece.start[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

/* "[kind]" or "[kind name]" */
static int parse_section(struct piece text, struct ini_line *line, struct bt_error *error)
{
    if (text.start[text.size - 1] != ']')
        return bt_fail(error, BT_USAGE, "a section's name ends with ]");
    struct piece kind = trim((struct piece){text.start + 1, text.size - 2});
    struct piece name = {kind.start, 0};
    for (size_t i = 0; i < kind.size && name.size == 0; i++)
        if (is_blank(kind.start[i])) {
            name = trim((struct piece){kind.start + i, kind.size - i});
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
static int parse_key(struct piece text, struct ini_line *line, struct bt_error *error)
{
    const char *equals = memchr(text.start, '=', text.size);
    if (!equals)
        return bt_fail(error, BT_USAGE, "expected \"key = value\", a [section] or a # comment");
    size_t before = (size_t)(equals - text.start);
    struct piece key = trim((struct piece){text.start, before});
    struct piece value = trim((struct piece){equals + 1, text.size - before - 1});
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
        struct piece text = next_line(ini);
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
