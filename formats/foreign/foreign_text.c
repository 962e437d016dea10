#include "formats/foreign/foreign_text.h"

#include <string.h>
#include <strings.h>

#define NONE_16 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
#define NONE_64 NONE_16, NONE_16, NONE_16, NONE_16
#define LETTERS 255, 10, 11, 12, 13, 14, 15, 255, 255, 255, 255, 255, 255, 255, 255, 255, NONE_16

const uint8_t foreign_hex_value[256] = {
    NONE_16, NONE_16, NONE_16, 0,   1,   2,   3,   4,       5,       6,       7,       8,
    9,       255,     255,     255, 255, 255, 255, LETTERS, LETTERS, NONE_64, NONE_64,
};

bool foreign_line_decimal(struct foreign_line *line, uint64_t *value)
{
    const uint8_t *start = line->at;
    uint64_t number = 0;
    for (; line->at < line->end && *line->at >= '0' && *line->at <= '9'; line->at++) {
        unsigned digit = *line->at - '0';
        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *value = number;
    return line->at > start;
}

bool foreign_line_number(struct foreign_line *line, uint64_t *value)
{
    const uint8_t *at = line->at;
    if (line->end - at < 2 || at[0] != '0' || (at[1] != 'x' && at[1] != 'X'))
        return foreign_line_decimal(line, value);
    line->at += 2;
    return foreign_line_hexadecimal(line, value);
}

bool foreign_line_field(struct foreign_line *line, char separator, struct foreign_line *field)
{
    if (!line->at)
        return false;
    size_t left = (size_t)(line->end - line->at);
    const uint8_t *found = left > 0 ? memchr(line->at, separator, left) : NULL;
    *field = (struct foreign_line){.at = line->at, .end = found ? found : line->end};
    line->at = found ? found + 1 : NULL;
    foreign_line_skip_spaces(field);
    while (field->end > field->at && (field->end[-1] == ' ' || field->end[-1] == '\t'))
        field->end--;
    return true;
}

bool foreign_line_is(const struct foreign_line *line, const char *word)
{
    size_t length = (size_t)(line->end - line->at);
    return length == strlen(word) && strncasecmp((const char *)line->at, word, length) == 0;
}
