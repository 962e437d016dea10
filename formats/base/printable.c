#include "formats/base/printable.h"

#include "formats/base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Whether three octets are a control of the direction of text, which makes terminals show a name in
 * another order: U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. */
static bool turns_text(const unsigned char *octets)
{
    return octets[0] == 0xe2 &&
           ((octets[1] == 0x80 && (octets[2] == 0x8e || octets[2] == 0x8f ||
                                   (octets[2] >= 0xaa && octets[2] <= 0xae))) ||
            (octets[1] == 0x81 && octets[2] >= 0xa6 && octets[2] <= 0xa9));
}

/* The number of octets to replace at the start of text; 0 if there are none, with *pass octets to
 * keep. */
static size_t replaced(const char *text, const char *end, size_t *pass)
{
    unsigned char octet = (unsigned char)*text;
    *pass = 1;
    if (octet < 0x80)
        return octet < 0x20 || octet == 0x7f;
    size_t length = utf8_length(text, end);
    if (length == 0) /* an eight-bit terminal's C1, or octets that no terminal interprets */
        return octet < 0xa0;
    *pass = length;
    if (length == 3 && turns_text((const unsigned char *)text))
        return length;
    return octet == 0xc2 && (unsigned char)text[1] < 0xa0 ? length : 0;
}

/* The first octet to be replaced; end if there is none. */
static const char *find(const char *text, const char *end, size_t *count)
{
    size_t pass;
    *count = 0;
    for (; text < end; text += pass)
        if ((*count = replaced(text, end, &pass)) > 0)
            return text;
    return end;
}

char *printable_make(char *text)
{
    const char *end = text + strlen(text);
    size_t count;
    for (const char *at = find(text, end, &count); at < end; at = find(at + count, end, &count))
        memset(text + (at - text), '?', count);
    return text;
}

const char *printable_in(struct printable_room *room, const char *text)
{
    size_t count;
    const char *end = text + strlen(text);
    if (find(text, end, &count) == end)
        return text;
    snprintf(room->text, sizeof room->text, "%s", text);
    return printable_make(room->text);
}

void printable_put(const char *text, FILE *out)
{
    const char *end = text + strlen(text);
    size_t count;
    while (text < end) {
        const char *at = find(text, end, &count);
        fwrite(text, 1, (size_t)(at - text), out);
        text = at + count;
        while (count-- > 0)
            putc('?', out);
    }
}
