#include "formats/deflate/deflate_codes.h"

#include "formats/deflate/huffman.h"

#define END_OF_BLOCK   256u
#define LENGTH_SYMBOLS 29u
#define STORED_MAX     65535u
#define SAMPLE_PIECES  4u

/* Longest codes: short enough that codes sent together fit a 64-bit word (see packed). */
#define LITERAL_CODE_MAX  12u
#define DISTANCE_CODE_MAX 10u

/* RFC 1951, 3.2.5 */
static const uint16_t length_bases[LENGTH_SYMBOLS] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                      15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                      67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra_bits[LENGTH_SYMBOLS] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

/* RFC 1951, 3.2.5: the distance code of 5 bytes and more. */
static uint32_t distance_code(uint32_t distance)
{
    uint32_t top = 31u - (uint32_t)__builtin_clz(distance - 1);
    return 2 * top + ((distance - 1) >> (top - 1) & 1);
}

void deflate_counts_clear(struct deflate_counts *counts)
{
    for (size_t s = 0; s < DEFLATE_LITERALS; s++)
        counts->literals[s] = 1;
    memset(counts->lengths, 0, sizeof counts->lengths);
    for (size_t d = 0; d < DEFLATE_DISTANCES; d++)
        counts->distances[d] = 1;
}

void deflate_count_literals(struct deflate_counts *counts, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        counts->literals[bytes[i]]++;
}

void deflate_count_match(struct deflate_counts *counts, uint32_t length, uint32_t back)
{
    counts->lengths[length]++;
    counts->distances[distance_code(back * RECORD_BYTES)]++;
}

void deflate_sample(const struct deflate_sample *sample, uint32_t records,
                    deflate_count_piece *count, void *context)
{
    if (records <= 2 * SAMPLE_PIECES * sample->piece_records) {
        count(context, 0, 0, records);
        return;
    }
    const uint32_t step = (records - sample->piece_records) / (SAMPLE_PIECES - 1);
    for (uint32_t first = 0, i = 0; i < SAMPLE_PIECES; first += step, i++)
        count(context, first, first + sample->start_records, first + sample->piece_records);
}

static packed pack(uint32_t bits, uint32_t count)
{
    return bits << PACKED_COUNT_BITS | count;
}

static void pack_lengths(struct deflate_codes *codes, const struct huffman_code *literals)
{
    uint32_t symbol = 0;
    for (uint32_t length = DEFLATE_MATCH_MIN; length <= DEFLATE_MATCH_MAX; length++) {
        while (symbol + 1 < LENGTH_SYMBOLS && length_bases[symbol + 1] <= length)
            symbol++;
        const struct huffman_code *code = &literals[257 + symbol];
        codes->lengths[length] = pack(code->bits | (length - length_bases[symbol]) << code->length,
                                      code->length + length_extra_bits[symbol]);
    }
}

static void pack_distances(struct deflate_codes *codes, const struct huffman_code *distances)
{
    for (uint32_t back = 1; back <= DEFLATE_WINDOW_RECORDS; back++) {
        uint32_t extra = back * RECORD_BYTES - 1;
        uint32_t d = distance_code(back * RECORD_BYTES);
        uint32_t extra_bits = d / 2 - 1;
        extra &= (1u << extra_bits) - 1;
        codes->distances[back] = pack(distances[d].bits | extra << distances[d].length,
                                      distances[d].length + extra_bits);
    }
}

/*
 * The code lengths of a dynamic block (RFC 1951, 3.2.7), without run lengths: every symbol has a
 * code.
 */
static void put_code_lengths(struct bit_writer *writer, const struct huffman_code *literals,
                             const struct huffman_code *distances)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint32_t counts[19] = {0};
    struct huffman_code codes[19];
    for (size_t i = 0; i < DEFLATE_LITERALS; i++)
        counts[literals[i].length]++;
    for (size_t i = 0; i < DEFLATE_DISTANCES; i++)
        counts[distances[i].length]++;
    huffman_build(counts, 19, 7, codes);
    bits_put(writer, DEFLATE_LITERALS - 257, 5);
    bits_put(writer, DEFLATE_DISTANCES - 1, 5);
    bits_put(writer, 19 - 4, 4);
    for (size_t i = 0; i < 19; i++)
        bits_put(writer, codes[order[i]].length, 3);
    for (size_t i = 0; i < DEFLATE_LITERALS; i++)
        bits_put(writer, codes[literals[i].length].bits, codes[literals[i].length].length);
    for (size_t i = 0; i < DEFLATE_DISTANCES; i++)
        bits_put(writer, codes[distances[i].length].bits, codes[distances[i].length].length);
}

static void add_lengths(struct deflate_counts *counts)
{
    uint32_t symbol = 0;
    for (uint32_t length = DEFLATE_MATCH_MIN; length <= DEFLATE_MATCH_MAX; length++) {
        while (symbol + 1 < LENGTH_SYMBOLS && length_bases[symbol + 1] <= length)
            symbol++;
        counts->literals[257 + symbol] += counts->lengths[length];
    }
}

void deflate_codes_begin(struct deflate_codes *codes, struct deflate_counts *counts,
                         struct bit_writer *writer)
{
    struct huffman_code literals[DEFLATE_LITERALS];
    struct huffman_code distances[DEFLATE_DISTANCES];
    add_lengths(counts);
    huffman_build(counts->literals, DEFLATE_LITERALS, LITERAL_CODE_MAX, literals);
    huffman_build(counts->distances, DEFLATE_DISTANCES, DISTANCE_CODE_MAX, distances);
    for (uint32_t s = 0; s < 256; s++)
        codes->literals[s] = pack(literals[s].bits, literals[s].length);
    codes->end = pack(literals[END_OF_BLOCK].bits, literals[END_OF_BLOCK].length);
    pack_lengths(codes, literals);
    pack_distances(codes, distances);
    bits_put(writer, 1 | 2 << 1, 3); /* the last block; type 2, dynamic codes */
    put_code_lengths(writer, literals, distances);
}

void deflate_codes_end(const struct deflate_codes *codes, struct bit_writer *writer,
                       const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bits_put(writer, packed_bits(codes->literals[bytes[i]]),
                 packed_count(codes->literals[bytes[i]]));
    bits_put(writer, packed_bits(codes->end), packed_count(codes->end));
}

/* RFC 1951, 3.2.4 */
size_t deflate_store(const uint8_t *in, size_t size, uint8_t *out)
{
    uint8_t *start = out;
    do {
        size_t here = size < STORED_MAX ? size : STORED_MAX;
        *out++ = here == size; /* the last block; type 0 */
        bytes_put16(out, (uint16_t)here);
        bytes_put16(out + 2, (uint16_t)~here);
        memcpy(out + 4, in, here);
        out += 4 + here;
        in += here;
        size -= here;
    } while (size > 0);
    return (size_t)(out - start);
}
