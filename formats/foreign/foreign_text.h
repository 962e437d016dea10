/* Parses numbers and words of lines, for decoders of foreign text formats. */
#ifndef FORMATS_FOREIGN_FOREIGN_TEXT_H
#define FORMATS_FOREIGN_FOREIGN_TEXT_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

/* The rest of a line. */
struct NAMED_FIELDS foreign_line {
    const uint8_t *at;
    const uint8_t *end;
};

/* The value of a hexadecimal digit, or 255. */
extern const uint8_t foreign_hex_value[256];

static inline void foreign_line_skip_spaces(struct foreign_line *line)
{
    while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
        line->at++;
}

/* A hexadecimal number without 0x. False if there is none, or it needs more than 64 bits. */
static inline bool foreign_line_hexadecimal(struct foreign_line *line, uint64_t *value)
{
    const uint8_t *start = line->at;
    uint64_t number = 0;
    for (; line->at < line->end; line->at++) {
        uint8_t digit = foreign_hex_value[*line->at];
        if (digit > 15)
            break;
        if (number >> 60)
            return false;
        number = number << 4 | digit;
    }
    *value = number;
    return line->at > start;
}

/* A decimal number. False if there is none, or it needs more than 64 bits. */
bool foreign_line_decimal(struct foreign_line *line, uint64_t *value);

/* A number, hexadecimal after 0x, else decimal. */
bool foreign_line_number(struct foreign_line *line, uint64_t *value);

/* Skips a required character. */
static inline bool foreign_line_expect(struct foreign_line *line, char character)
{
    if (line->at == line->end || *line->at != (uint8_t)character)
        return false;
    line->at++;
    return true;
}

/* Takes the field up to the separator or the line's end, without surrounding spaces, and skips the
 * separator. False at the line's end. */
bool foreign_line_field(struct foreign_line *line, char separator, struct foreign_line *field);

/* Whether the rest is this word, ignoring case. */
bool foreign_line_is(const struct foreign_line *line, const char *word);

#endif
