/*
 * Reads a comprehensive WET text from standard input and writes it again to standard output.
 */
#include "formats/wet/wet_text.h"

#include <stdio.h>
#include <string.h>

/* Digits, the highest first, as bytes, the lowest first. Returns their number. */
static unsigned bytes_of(const char *digits, uint8_t bytes[WET_TEXT_VALUE_BYTES])
{
    const size_t count = strlen(digits);
    memset(bytes, 0, WET_TEXT_VALUE_BYTES);
    for (size_t i = 0; i < count && i < 2 * WET_TEXT_VALUE_BYTES; i++) {
        const char digit = digits[count - 1 - i];
        const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
        bytes[i / 2] = (uint8_t)(bytes[i / 2] | value << (i % 2 * 4));
    }
    return (unsigned)(count + 1) / 2;
}

static char *put(char *out, const struct wet_text_event *event)
{
    uint8_t bytes[WET_TEXT_VALUE_BYTES];
    switch (event->kind) {
    case WET_TEXT_COUNT:
        return wet_text_put_count(out, event->count);
    case WET_TEXT_INSTRUCTION:
        return wet_text_put_instruction(out, &event->instruction);
    case WET_TEXT_SIZE:
        return wet_text_put_size(out, event->count);
    case WET_TEXT_DEPENDENCE:
        return wet_text_put_dependence(out, event->instance, event->id, event->writer);
    case WET_TEXT_VALUES:
        return wet_text_put_values(out, event->count);
    case WET_TEXT_VALUE:
        return wet_text_put_value(out, event->instance, bytes, bytes_of(event->value, bytes));
    case WET_TEXT_NO_VALUES:
        return wet_text_put_no_values(out);
    }
    return out;
}

int main(void)
{
    static char line[WET_TEXT_BYTES];
    struct wet_text_event event;
    struct bt_error error;
    struct text_reader *text = text_reader_open("-", &error);
    struct wet_text_reader *reader = text ? wet_text_reader_new(text, &error) : NULL;
    int result = reader ? 1 : -1;
    while (result > 0 && (result = wet_text_reader_next(reader, &event, &error)) > 0) {
        const char *end = put(line, &event);
        fwrite(line, 1, (size_t)(end - line), stdout);
    }
    if (result < 0)
        fprintf(stderr, "%s\n", error.message);
    wet_text_reader_free(reader);
    text_reader_close(text);
    return result < 0 || fflush(stdout) != 0;
}
