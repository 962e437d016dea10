#include "formats/text/json_scan.h"
#include "formats/text/text_lines.h"
#include "formats/wet/wet_text.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 6u /* of an instruction's line */

struct wet_text_reader {
    struct text_lines *lines;
    struct text_line line;
    uint64_t number;         /* of the last line */
    enum wet_text_kind last; /* kind of the line before; if it has begun */
    bool has_begun, has_failed;
    uint64_t instructions; /* that are still to come */
    uint32_t ports;        /* of the current instruction that are still to come */
    uint64_t rest;         /* of the lines of a port, or of the values */
    char copy[WET_TEXT_BYTES];
    char names[2][WET_TEXT_NAME_BYTES + 1];
};

struct wet_text_reader *wet_text_reader_new(struct text_reader *reader, struct bt_error *error)
{
    struct wet_text_reader *text = calloc(1, sizeof *text);
    if (!text)
        bt_fail(error, BT_MEMORY, "no memory to read a WET trace");
    else if ((text->lines = text_lines_new(reader, WET_TEXT_BYTES - 1, error)))
        return text;
    free(text);
    return NULL;
}

void wet_text_reader_free(struct wet_text_reader *reader)
{
    if (!reader)
        return;
    text_lines_free(reader->lines);
    free(reader);
}

uint64_t wet_text_reader_line(const struct wet_text_reader *reader)
{
    return reader->number;
}

static int expect(const struct wet_text_reader *reader, const char *what, struct bt_error *error)
{
    return bt_fail(error, BT_DATA, "line %llu: expected %s", (unsigned long long)reader->number,
                   what);
}

/* --- fields ------------------------------------------------------------------------------------
 */

/* A decimal number as it is written: without leading zeros. */
static bool get_number(const char *text, size_t size, uint64_t *number)
{
    return size > 0 && (text[0] != '0' || size == 1) && json_scan_decimal(text, size, number);
}

static bool get_number32(const char *text, size_t size, uint32_t *number)
{
    uint64_t found;
    const bool is_good = get_number(text, size, &found) && found <= UINT32_MAX;
    *number = is_good ? (uint32_t)found : 0;
    return is_good;
}

static bool is_hexadecimal(const char *text, size_t size)
{
    return size > 0 && (text[0] != '0' || size == 1) && strspn(text, "0123456789abcdef") == size;
}

/* Undoes the escapes of a name; "?" is unknown. */
static bool get_name(const char *text, char name[WET_TEXT_NAME_BYTES + 1], const char **found)
{
    size_t length = 0;
    for (; *text; text++) {
        unsigned character = (unsigned char)*text;
        if (character == '\\') {
            if (strspn(text + 1, "01234567") < 3 || text[1] > '3')
                return false;
            character = (unsigned)(text[1] - '0') << 6 | (unsigned)(text[2] - '0') << 3 |
                        (unsigned)(text[3] - '0');
            text += 3;
        } else if (character <= ' ' || character == 0x7f) {
            return false;
        }
        if (character == 0 || length == WET_TEXT_NAME_BYTES)
            return false;
        name[length++] = (char)character;
    }
    name[length] = '\0';
    *found = strcmp(name, "?") == 0 ? NULL : name;
    return length > 0;
}

/* --- lines -------------------------------------------------------------------------------------
 */

static int get_instruction(struct wet_text_reader *reader, struct wet_text_event *event,
                           struct bt_error *error)
{
    struct wet_text_instruction *instruction = &event->instruction;
    const char *fields[FIELDS];
    char *text = reader->copy;
    unsigned count = 0;
    memcpy(text, reader->line.text, reader->line.size + 1);
    for (; text && count < FIELDS; count++) {
        fields[count] = text;
        text = strchr(text, ' ');
        if (text)
            *text++ = '\0';
    }
    if (count < FIELDS || text || !get_number32(fields[0], strlen(fields[0]), &instruction->id) ||
        !get_number32(fields[1], strlen(fields[1]), &instruction->ports) ||
        !is_hexadecimal(fields[2], strlen(fields[2])) || strlen(fields[2]) > 16 ||
        !get_name(fields[3], reader->names[0], &instruction->file) ||
        !get_name(fields[4], reader->names[1], &instruction->function) ||
        !get_number32(fields[5], strlen(fields[5]), &instruction->line))
        return expect(reader, "an instruction: id ports address file function line", error);
    if (instruction->ports == 0)
        return expect(reader, "at least one port, that of control", error);
    instruction->address = strtoull(fields[2], NULL, 16);
    event->kind = WET_TEXT_INSTRUCTION;
    reader->ports = instruction->ports;
    reader->instructions--;
    return 1;
}

/* A word and a number. */
static bool get_counted(struct wet_text_reader *reader, const char *word, uint64_t *count)
{
    const size_t size = strlen(word);
    return reader->line.size > size && memcmp(reader->line.text, word, size) == 0 &&
           get_number(reader->line.text + size, reader->line.size - size, count);
}

/* The instance before a colon. NULL: it is no such line; else what follows the colon. */
static const char *get_instance(const struct wet_text_reader *reader, uint64_t *instance)
{
    const char *text = reader->line.text;
    const char *colon = memchr(text, ':', reader->line.size);
    const bool is_good = colon && colon > text + 4 && memcmp(text, "    ", 4) == 0 &&
                         get_number(text + 4, (size_t)(colon - (text + 4)), instance);
    return is_good ? colon + 1 : NULL;
}

static int get_dependence(struct wet_text_reader *reader, struct wet_text_event *event,
                          struct bt_error *error)
{
    const char *end = reader->line.text + reader->line.size;
    const char *id = get_instance(reader, &event->instance);
    const char *blank = id ? memchr(id, ' ', (size_t)(end - id)) : NULL;
    if (!blank || !get_number32(id, (size_t)(blank - id), &event->id) ||
        !get_number(blank + 1, (size_t)(end - (blank + 1)), &event->writer))
        return expect(reader, "a dependence: four blanks, X:Y Z", error);
    event->kind = WET_TEXT_DEPENDENCE;
    reader->rest--;
    return 1;
}

static int get_value(struct wet_text_reader *reader, struct wet_text_event *event,
                     struct bt_error *error)
{
    const char *end = reader->line.text + reader->line.size;
    event->value = get_instance(reader, &event->instance);
    if (!event->value || !is_hexadecimal(event->value, (size_t)(end - event->value)) ||
        end - event->value > 2 * WET_TEXT_VALUE_BYTES)
        return expect(reader, "a value: four blanks, X:hexadecimal", error);
    event->kind = WET_TEXT_VALUE;
    reader->rest--;
    return 1;
}

static int get_size(struct wet_text_reader *reader, struct wet_text_event *event,
                    struct bt_error *error)
{
    if (!get_counted(reader, "SIZE ", &event->count))
        return expect(reader, "SIZE and a number", error);
    event->kind = WET_TEXT_SIZE;
    reader->rest = event->count;
    reader->ports--;
    return 1;
}

static int get_values(struct wet_text_reader *reader, struct wet_text_event *event,
                      struct bt_error *error)
{
    if (strcmp(reader->line.text, "NO VALUES") == 0 && reader->line.size == 9) {
        event->kind = WET_TEXT_NO_VALUES;
        return 1;
    }
    if (!get_counted(reader, "VALUES ", &event->count))
        return expect(reader, "NO VALUES, or VALUES and a number", error);
    event->kind = WET_TEXT_VALUES;
    reader->rest = event->count;
    return 1;
}

static bool has_values(const struct wet_text_reader *reader)
{
    return reader->last == WET_TEXT_VALUES || reader->last == WET_TEXT_VALUE ||
           reader->last == WET_TEXT_NO_VALUES;
}

/* Reads the line as the one that must follow. */
static int get_event(struct wet_text_reader *reader, struct wet_text_event *event,
                     struct bt_error *error)
{
    if (reader->line.is_cut)
        return expect(reader, "a shorter line", error);
    if (memchr(reader->line.text, 0, reader->line.size))
        return expect(reader, "a line without a NUL", error);
    if (!reader->has_begun) {
        reader->has_begun = true;
        event->kind = WET_TEXT_COUNT;
        if (!get_number(reader->line.text, reader->line.size, &event->count))
            return expect(reader, "the number of instructions", error);
        reader->instructions = event->count;
        return 1;
    }
    if (reader->rest > 0)
        return has_values(reader) ? get_value(reader, event, error)
                                  : get_dependence(reader, event, error);
    if (reader->ports > 0)
        return get_size(reader, event, error);
    if (reader->last != WET_TEXT_COUNT && !has_values(reader))
        return get_values(reader, event, error);
    if (reader->instructions > 0)
        return get_instruction(reader, event, error);
    return expect(reader, "the end, after the last instruction", error);
}

/* Whether the text may end here. */
static bool is_complete(const struct wet_text_reader *reader)
{
    return reader->has_begun && reader->instructions == 0 && reader->ports == 0 &&
           reader->rest == 0 && (reader->last == WET_TEXT_COUNT || has_values(reader));
}

int wet_text_reader_next(struct wet_text_reader *reader, struct wet_text_event *event,
                         struct bt_error *error)
{
    *event = (struct wet_text_event){.kind = WET_TEXT_COUNT};
    if (reader->has_failed)
        return bt_fail(error, BT_DATA, "nothing can be read after an error");
    int result = text_lines_next(reader->lines, &reader->line, error);
    if (result == 1) {
        reader->number = reader->line.number;
        result = get_event(reader, event, error);
    } else if (result == 0 && !is_complete(reader)) {
        result = bt_fail(error, BT_DATA, "the text ends too early, after line %llu",
                         (unsigned long long)reader->number);
    }
    reader->has_failed = result < 0;
    if (result == 1)
        reader->last = event->kind;
    return result;
}
