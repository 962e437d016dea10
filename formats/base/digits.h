/*
 * Numbers as text, eight digits at a time, without branches or divisions: for hundreds of millions
 * of lines. Each function writes at out and returns the end of what it wrote. It may overwrite up
 * to 8 bytes from out, whatever the number's length. In the 64-bit words here the lowest byte is
 * the leftmost character.
 */
#ifndef FORMATS_BASE_DIGITS_H
#define FORMATS_BASE_DIGITS_H

#include "formats/base/bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define DIGITS_EVERY_BYTE(value) ((value)*0x0101010101010101u)
#define DIGITS_HUNDRED_MILLION   100000000u
#define DIGITS_DECIMAL_MAX       20u /* characters of a 64-bit number */

/* %08x */
static inline char *digits_put_hexadecimal(char *out, uint32_t value)
{
    uint32_t leftmost_first = __builtin_bswap32(value);
#ifdef __SSE2__
    __m128i bytes = _mm_cvtsi32_si128((int)leftmost_first);
    __m128i low_halves = _mm_set1_epi8(0x0f);
    __m128i digits = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), low_halves),
                                       _mm_and_si128(bytes, low_halves));
    __m128i letters =
        _mm_and_si128(_mm_cmpgt_epi8(digits, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '0' - 10));
    _mm_storel_epi64((__m128i *)(void *)out,
                     _mm_add_epi8(_mm_add_epi8(digits, _mm_set1_epi8('0')), letters));
#else
    uint64_t digits = leftmost_first;
    digits = (digits | digits << 16) & 0x0000ffff0000ffffu;
    digits = (digits | digits << 8) & 0x00ff00ff00ff00ffu;
    digits = (digits >> 4 | digits << 8) & DIGITS_EVERY_BYTE(0x0fu);
    uint64_t letters = (digits + DIGITS_EVERY_BYTE(6u)) >> 4 & DIGITS_EVERY_BYTE(1u);
    bytes_put64((uint8_t *)out,
                digits + DIGITS_EVERY_BYTE((uint64_t)'0') + letters * ('a' - '0' - 10));
#endif
    return out + 8;
}

/* The eight digits of a value below 10^8: halves in lanes of 32 bits, then of 16, then of 8. */
static inline uint64_t digits_of_decimal(uint32_t value)
{
    uint64_t lanes = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t quotients = lanes * 10486 >> 20 & 0x0000007f0000007fu; /* lanes / 100 */
    lanes = quotients | (lanes - quotients * 100) << 16;
    quotients = lanes * 103 >> 10 & 0x000f000f000f000fu; /* lanes / 10 */
    return quotients | (lanes - quotients * 10) << 8;
}

/* %u of a value below 10^8 */
static inline char *digits_put_short_decimal(char *out, uint32_t value)
{
    uint64_t digits = digits_of_decimal(value);
    /* leading zeros in bits, a whole number of bytes; the last digit is never one */
    unsigned leading = (unsigned)__builtin_ctzll(digits | 1ull << 56) & 0x38u;
    bytes_put64((uint8_t *)out, (digits + DIGITS_EVERY_BYTE((uint64_t)'0')) >> leading);
    return out + 8 - leading / 8;
}

/* %08u of a value below 10^8 */
static inline char *digits_put_padded_decimal(char *out, uint32_t value)
{
    bytes_put64((uint8_t *)out, digits_of_decimal(value) + DIGITS_EVERY_BYTE((uint64_t)'0'));
    return out + 8;
}

/* %llu */
static inline char *digits_put_decimal(char *out, uint64_t value)
{
    if (value < DIGITS_HUNDRED_MILLION)
        return digits_put_short_decimal(out, (uint32_t)value);
    uint64_t upper = value / DIGITS_HUNDRED_MILLION;
    if (upper < DIGITS_HUNDRED_MILLION) {
        out = digits_put_short_decimal(out, (uint32_t)upper);
    } else {
        out = digits_put_short_decimal(out, (uint32_t)(upper / DIGITS_HUNDRED_MILLION));
        out = digits_put_padded_decimal(out, (uint32_t)(upper % DIGITS_HUNDRED_MILLION));
    }
    return digits_put_padded_decimal(out, (uint32_t)(value % DIGITS_HUNDRED_MILLION));
}

#endif
