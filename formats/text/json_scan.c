#include "formats/text/json_scan.h"

#include "formats/base/bytes.h"
#include "formats/base/utf8.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* The high bit of every octet that is 0, and maybe of octets above it. */
static inline uint64_t zeros(uint64_t word)
{
    return (word - ONES) & ~word & HIGHS;
}

/* The high bit of every octet that is a quote, a backslash, a control character or not ASCII, and
 * maybe of octets above it: the lowest bit is exact. */
static inline uint64_t specials(uint64_t word)
{
    uint64_t control = (word - ONES * 0x20) & ~word;
    return ((control | word) & HIGHS) | zeros(word ^ ONES * '"') | zeros(word ^ ONES * '\\');
}

const char *json_scan_string(const char *at, const char *end)
{
    while (at < end) {
        if (end - at >= 8) {
            uint64_t found = specials(bytes_get64((const uint8_t *)at));
            if (found == 0) {
                at += 8;
                continue;
            }
            at += __builtin_ctzll(found) / 8;
        }
        unsigned char octet = (unsigned char)*at;
        if (octet == '"' || octet == '\\' || octet < 0x20)
            return at;
        size_t size = octet < 0x80 ? 1 : utf8_length(at, end);
        if (size == 0)
            return at;
        at += size;
    }
    return end;
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static const char *past_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

size_t json_scan_number(const char *text, bool strict, bool *integer)
{
    const char *at = text;
    *integer = true;
    if (*at == '-')
        at++;
    const char *digits = at;
    at = past_digits(at);
    if (at == digits || (strict && *digits == '0' && at > digits + 1))
        return 0;
    if (*at == '.') {
        *integer = false;
        digits = ++at;
        at = past_digits(at);
        if (at == digits)
            return 0;
    }
    if (*at == 'e' || *at == 'E') {
        *integer = false;
        at++;
        if (*at == '+' || *at == '-')
            at++;
        digits = at;
        at = past_digits(at);
        if (at == digits)
            return 0;
    }
    return (size_t)(at - text);
}

static bool scan_digits(const char *text, size_t size, unsigned base, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        int digit = json_scan_hex_digit(text[i]);
        if (digit < 0 || (unsigned)digit >= base)
            return false;
        if (sum > (UINT64_MAX - (unsigned)digit) / base)
            return false;
        sum = sum * base + (unsigned)digit;
    }
    *value = sum;
    return size > 0;
}

bool json_scan_decimal(const char *text, size_t size, uint64_t *value)
{
    return scan_digits(text, size, 10, value);
}

/* Up to 16 hexadecimal digits: addresses, frequent in graphs. */
static bool scan_hex(const char *text, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    if (size == 0 || size > 16)
        return scan_digits(text, size, 16, value);
    for (size_t i = 0; i < size; i++) {
        int digit = json_scan_hex_digit(text[i]);
        if (digit < 0)
            return false;
        sum = sum << 4 | (unsigned)digit;
    }
    *value = sum;
    return true;
}

bool json_scan_c_integer(const char *text, size_t size, uint64_t *value)
{
    if (size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return scan_hex(text + 2, size - 2, value);
    if (size > 1 && text[0] == '0')
        return scan_digits(text + 1, size - 1, 8, value);
    return scan_digits(text, size, 10, value);
}

size_t json_scan_put_utf8(char *to, uint32_t character)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xc0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xe0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3f));
        to[2] = (char)(0x80 | (character & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | character >> 18);
    to[1] = (char)(0x80 | (character >> 12 & 0x3f));
    to[2] = (char)(0x80 | (character >> 6 & 0x3f));
    to[3] = (char)(0x80 | (character & 0x3f));
    return 4;
}
