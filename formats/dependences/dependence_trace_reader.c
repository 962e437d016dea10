#include "formats/dependences/dependence_trace.h"
#include "formats/text/json_scan.h"
#include "formats/text/text_lines.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST (6 * (size_t)DEPENDENCE_TOKEN_BYTES)
#define FIELDS  9u /* of the longest line */

struct dependence_trace_reader {
    struct text_lines *lines;
    uint64_t line;
    bool failed;
    char copy[LONGEST + 1];
};

struct dependence_trace_reader *dependence_trace_reader_new(struct text_reader *reader,
                                                            struct bt_error *error)
{
    struct dependence_trace_reader *trace = calloc(1, sizeof *trace);
    if (!trace)
        bt_fail(error, BT_MEMORY, "no memory to read a trace");
    else if ((trace->lines = text_lines_new(reader, LONGEST, error)))
        return trace;
    free(trace);
    return NULL;
}

void dependence_trace_reader_free(struct dependence_trace_reader *reader)
{
    if (!reader)
        return;
    text_lines_free(reader->lines);
    free(reader);
}

bool dependence_trace_reader_failed(const struct dependence_trace_reader *reader)
{
    return reader->failed;
}

uint64_t dependence_trace_reader_line(const struct dependence_trace_reader *reader)
{
    return reader->line;
}

/* Undoes the escapes of size octets at token. False if name is too short, or an escape is none. */
static bool unescape(const char *token, size_t size, char name[DEPENDENCES_NAME_BYTES])
{
    size_t length = 0;
    for (size_t i = 0; i < size; i++, length++) {
        if (length == DEPENDENCES_NAME_BYTES - 1)
            return false;
        name[length] = token[i];
        if (token[i] != '\\')
            continue;
        unsigned value = 0;
        for (unsigned digit = 1; digit <= 3; digit++) {
            if (i + digit >= size || token[i + digit] < '0' || token[i + digit] > '7')
                return false;
            value = value * 8 + (unsigned)(token[i + digit] - '0');
        }
        if (value == 0 || value > 0xff)
            return false;
        name[length] = (char)value;
        i += 3;
    }
    name[length] = 0;
    return true;
}

/* Whether size octets at token are what dependence_trace_name() writes. */
static bool is_name(const char *token, size_t size)
{
    char name[DEPENDENCES_NAME_BYTES], again[DEPENDENCE_TOKEN_BYTES];
    if (size == 1 && token[0] == '?')
        return true;
    if (size == 0 || !unescape(token, size, name))
        return false;
    dependence_trace_name(name, again);
    return strlen(again) == size && memcmp(again, token, size) == 0;
}

/* A decimal number as it is written: without leading zeros. */
static bool is_number(const char *text, uint64_t *number)
{
    const size_t size = strlen(text);
    return size > 0 && (text[0] != '0' || size == 1) && json_scan_decimal(text, size, number);
}

static bool is_place(const char *token)
{
    const char *colon = strrchr(token, ':');
    uint64_t line;
    if (!colon || !is_number(colon + 1, &line) || line > UINT32_MAX)
        return false;
    const size_t size = (size_t)(colon - token);
    return is_name(token, size) && (line == 0 || size != 1 || token[0] != '?');
}

/* Splits at single blanks. Returns the number of fields, FIELDS + 1 if there are more. */
static unsigned split(char *text, const char *fields[FIELDS])
{
    for (unsigned count = 0; count < FIELDS; count++) {
        char *blank = strchr(text, ' ');
        fields[count] = text;
        if (!blank)
            return count + 1;
        *blank = 0;
        text = blank + 1;
    }
    return FIELDS + 1;
}

static int parse_dependence(struct dependence_event *event, const char *const fields[FIELDS],
                            struct bt_error *error)
{
    static const char *const names[4] = {"sink", "source", "top-level sink", "top-level source"};
    event->kind = DEPENDENCE_FOUND;
    for (unsigned i = 0; i < 4; i++)
        if (!is_place(fields[1 + i]))
            return bt_fail(error, BT_DATA, "the %s is not FILE:LINE with escapes as needed",
                           names[i]);
    event->sink = fields[1];
    event->source = fields[2];
    event->top_sink = fields[3];
    event->top_source = fields[4];
    if (!is_number(fields[5], &event->pseudo_sink) ||
        !is_number(fields[6], &event->pseudo_source) ||
        !is_number(fields[7], &event->frozen_sink) || !is_number(fields[8], &event->frozen_source))
        return bt_fail(error, BT_DATA, "a time is not a decimal number below 2^64");
    return 1;
}

static int parse(struct dependence_event *event, char *text, struct bt_error *error)
{
    const char *fields[FIELDS] = {""};
    const unsigned count = split(text, fields);
    if (strcmp(fields[0], "dep") == 0) {
        if (count != 9)
            return bt_fail(error, BT_DATA, "dep needs four places and four times");
        return parse_dependence(event, fields, error);
    }
    if (strcmp(fields[0], "enter") == 0) {
        event->kind = DEPENDENCE_ENTER;
        event->file = fields[1];
        event->function = fields[2];
        if (count != 3 || !is_name(fields[1], strlen(fields[1])) ||
            !is_name(fields[2], strlen(fields[2])))
            return bt_fail(error, BT_DATA, "enter needs a file and a function");
        return 1;
    }
    if (strcmp(fields[0], "leave") == 0) {
        event->kind = DEPENDENCE_LEAVE;
        event->function = fields[1];
        if (count != 2 || !is_name(fields[1], strlen(fields[1])))
            return bt_fail(error, BT_DATA, "leave needs a function");
        return 1;
    }
    return bt_fail(error, BT_DATA, "the line does not begin with enter, leave or dep");
}

int dependence_trace_reader_next(struct dependence_trace_reader *reader,
                                 struct dependence_event *event, struct bt_error *error)
{
    struct text_line line;
    int result = reader->failed ? 0 : text_lines_next(reader->lines, &line, error);
    if (result <= 0) {
        reader->failed |= result < 0;
        return result;
    }
    reader->line = line.number;
    *event = (struct dependence_event){.kind = DEPENDENCE_FOUND};
    if (line.is_cut)
        return bt_fail(error, BT_DATA, "the line is longer than %zu bytes", LONGEST);
    if (!line.has_newline)
        return bt_fail(error, BT_DATA, "the line has no end");
    if (memchr(line.text, 0, line.size))
        return bt_fail(error, BT_DATA, "the line has a NUL character");
    memcpy(reader->copy, line.text, line.size + 1);
    return parse(event, reader->copy, error);
}
