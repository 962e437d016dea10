#include "formats/text/text_lines.h"

#include <stdlib.h>
#include <string.h>

#define READ_BYTES ((size_t)64 << 10)

struct text_lines {
    struct text_reader *reader;
    size_t longest, room;
    size_t begin, end; /* of the text in buffer that is not read */
    uint64_t number;
    bool is_ended;
    char buffer[];
};

struct text_lines *text_lines_new(struct text_reader *reader, size_t longest,
                                  struct bt_error *error)
{
    const size_t room = longest + READ_BYTES;
    struct text_lines *lines = malloc(sizeof *lines + room + 1);
    if (!lines) {
        bt_fail(error, BT_MEMORY, "no memory to read %s", text_reader_name(reader));
        return NULL;
    }
    *lines = (struct text_lines){.reader = reader, .longest = longest, .room = room};
    return lines;
}

void text_lines_free(struct text_lines *lines)
{
    free(lines);
}

/* Reads more text behind the present one, which moves to the buffer's front. */
static int read_more(struct text_lines *lines, struct bt_error *error)
{
    size_t got = 0;
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = 0;
    int result = text_reader_read(lines->reader, lines->buffer + lines->end,
                                  lines->room - lines->end, &got, error);
    lines->end += got;
    lines->is_ended = result == 0 && got == 0;
    return result;
}

/* Skips the rest of a line that is too long. */
static int skip(struct text_lines *lines, struct bt_error *error)
{
    for (;;) {
        const char *text = lines->buffer + lines->begin;
        const char *newline = memchr(text, '\n', lines->end - lines->begin);
        if (newline) {
            lines->begin += (size_t)(newline - text) + 1;
            return 0;
        }
        lines->begin = lines->end = lines->longest; /* the line's beginning stays */
        size_t got = 0;
        int result = text_reader_read(lines->reader, lines->buffer + lines->begin,
                                      lines->room - lines->begin, &got, error);
        lines->end += got;
        if (result < 0 || got == 0) {
            lines->is_ended = true;
            return result;
        }
    }
}

/* A line of the first `longest` bytes. */
static int cut(struct text_lines *lines, struct text_line *line, struct bt_error *error)
{
    memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = lines->longest;
    line->text = lines->buffer;
    line->size = lines->longest - 1;
    line->is_cut = line->has_newline = true;
    int result = skip(lines, error);
    lines->buffer[line->size] = 0;
    return result < 0 ? result : 1;
}

int text_lines_next(struct text_lines *lines, struct text_line *line, struct bt_error *error)
{
    size_t searched = 0;
    *line = (struct text_line){.number = ++lines->number};
    for (;;) {
        char *text = lines->buffer + lines->begin;
        const size_t size = lines->end - lines->begin;
        char *newline = memchr(text + searched, '\n', size - searched);
        line->text = text;
        line->size = newline ? (size_t)(newline - text) : size;
        if (line->size > lines->longest)
            return cut(lines, line, error);
        if (newline || lines->is_ended) {
            line->has_newline = newline != NULL;
            lines->begin += line->size + line->has_newline;
            text[line->size] = 0;
            return newline || size > 0;
        }
        searched = size;
        int result = read_more(lines, error);
        if (result < 0)
            return result;
    }
}
