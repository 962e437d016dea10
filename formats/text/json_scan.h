/* JSON's lexical elements in memory: for json_pull. */
#ifndef FORMATS_TEXT_JSON_SCAN_H
#define FORMATS_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first octet from at on that ends or interrupts a plain string: '"', '\\', a control
 * character, invalid UTF-8 (or a character cut by end); or end.
 */
const char *json_scan_string(const char *at, const char *end);

/*
 * The length of the number at text (RFC 8259 section 6), 0 if there is none; *integer: it has
 * neither fraction nor exponent. Unless strict, it may have leading zeros. text must contain an
 * octet that ends the number.
 */
size_t json_scan_number(const char *text, bool strict, bool *integer);

/* Decimal digits as a number; false for other characters or more than 64 bits. */
bool json_scan_decimal(const char *text, size_t size, uint64_t *value);

/* The same for integers as in C: decimal, 0x hexadecimal, 0 octal. No sign, no suffix, no
 * spaces. */
bool json_scan_c_integer(const char *text, size_t size, uint64_t *value);

/* 0 to 15, or -1. */
static inline int json_scan_hex_digit(char c)
{
    unsigned digit = (unsigned char)(c - '0');
    unsigned letter = (unsigned char)((c | 0x20) - 'a');
    return digit < 10 ? (int)digit : letter < 6 ? (int)letter + 10 : -1;
}

/* Writes the character (up to 0x10ffff) as UTF-8; returns the number of octets, at most 4. */
size_t json_scan_put_utf8(char *to, uint32_t character);

#endif
