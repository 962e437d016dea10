/* Huffman codes for deflate (RFC 1951, 3.2): code lengths from frequencies, and the codes. */
#ifndef FORMATS_DEFLATE_HUFFMAN_H
#define FORMATS_DEFLATE_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

#define HUFFMAN_SYMBOLS_MAX 288u

/* A code as deflate sends it: the low `length` bits of `bits`, lowest bit first. Length 0: unused
 * symbol. */
struct huffman_code {
    uint16_t bits;
    uint8_t length;
};

/*
 * Gives each of count symbols (at most HUFFMAN_SYMBOLS_MAX) with a frequency above 0 a code of at
 * most max_length bits (at most 15, and 2^max_length >= count). With fewer than two such symbols
 * the code is incomplete: one symbol of one bit. The frequencies must add up to less than 2^32.
 */
void huffman_build(const uint32_t *frequencies, size_t count, unsigned max_length,
                   struct huffman_code *codes);

#endif
