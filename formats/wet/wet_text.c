#include "formats/wet/wet_text.h"

#include "formats/base/digits.h"

#include <string.h>

#define INDENT "    "

static char *put_text(char *out, const char *text)
{
    const size_t size = strlen(text);
    memcpy(out, text, size);
    return out + size;
}

/* Without leading zeros. */
static char *put_hexadecimal(char *out, const uint8_t *bytes, unsigned size)
{
    static const char digits[] = "0123456789abcdef";
    while (size > 1 && bytes[size - 1] == 0)
        size--;
    if (bytes[size - 1] >= 16)
        *out++ = digits[bytes[size - 1] >> 4];
    *out++ = digits[bytes[size - 1] & 15];
    while (--size > 0) {
        *out++ = digits[bytes[size - 1] >> 4];
        *out++ = digits[bytes[size - 1] & 15];
    }
    return out;
}

static char *put_name(char *out, const char *name)
{
    if (!name || !*name)
        return put_text(out, "?");
    for (unsigned i = 0; i < WET_TEXT_NAME_BYTES && name[i]; i++) {
        const unsigned char character = (unsigned char)name[i];
        if (character > ' ' && character != 0x7f && character != '\\') {
            *out++ = name[i];
            continue;
        }
        *out++ = '\\';
        for (int shift = 6; shift >= 0; shift -= 3)
            *out++ = (char)('0' + (character >> shift & 7));
    }
    return out;
}

static char *put_counted(char *out, const char *what, uint64_t count)
{
    out = digits_put_decimal(put_text(out, what), count);
    *out++ = '\n';
    return out;
}

char *wet_text_put_count(char *out, uint64_t count)
{
    return put_counted(out, "", count);
}

char *wet_text_put_instruction(char *out, const struct wet_text_instruction *instruction)
{
    uint8_t address[8];
    bytes_put64(address, instruction->address);
    out = digits_put_decimal(out, instruction->id);
    *out++ = ' ';
    out = digits_put_decimal(out, instruction->ports);
    *out++ = ' ';
    out = put_hexadecimal(out, address, sizeof address);
    *out++ = ' ';
    out = put_name(out, instruction->file);
    *out++ = ' ';
    out = put_name(out, instruction->function);
    return put_counted(out, " ", instruction->line);
}

char *wet_text_put_size(char *out, uint64_t count)
{
    return put_counted(out, "SIZE ", count);
}

char *wet_text_put_dependence(char *out, uint64_t reader, uint32_t id, uint64_t writer)
{
    out = digits_put_decimal(put_text(out, INDENT), reader);
    *out++ = ':';
    out = digits_put_decimal(out, id);
    return put_counted(out, " ", writer);
}

char *wet_text_put_values(char *out, uint64_t count)
{
    return put_counted(out, "VALUES ", count);
}

char *wet_text_put_no_values(char *out)
{
    return put_text(out, "NO VALUES\n");
}

char *wet_text_put_value(char *out, uint64_t instance, const uint8_t *bytes, unsigned size)
{
    out = digits_put_decimal(put_text(out, INDENT), instance);
    *out++ = ':';
    out = put_hexadecimal(out, bytes, size);
    *out++ = '\n';
    return out;
}
