/*
 * What our compressors for 12-byte records have in common: one deflate block with codes of its own
 * (RFC 1951), made from counts of what a sample would send, and its bits. Distances are whole
 * records.
 */
#ifndef FORMATS_DEFLATE_DEFLATE_CODES_H
#define FORMATS_DEFLATE_DEFLATE_CODES_H

#include "formats/record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEFLATE_WINDOW_RECORDS (32768u / RECORD_BYTES) /* deflate looks back 32 KiB */
#define DEFLATE_MATCH_MIN      3u
#define DEFLATE_MATCH_MAX      258u
#define DEFLATE_LITERALS       286u
#define DEFLATE_DISTANCES      30u
#define DEFLATE_NO_LITERAL     256u /* added to a byte: it is not sent */

/* Inlined into code for several processors. */
#define DEFLATE_INLINE __attribute__((always_inline)) static inline

/*
 * A code with its extra bits: how many in the low 6, the bits themselves above. The longest is a
 * literal (12 bits) with a length (12 and 1 extra); a distance has 10 and 13.
 */
typedef uint32_t packed;
#define PACKED_COUNT_BITS 6

/* Of what is to be sent, how often each symbol. */
struct deflate_counts {
    uint32_t literals[DEFLATE_LITERALS];
    uint32_t lengths[DEFLATE_MATCH_MAX + 1];
    uint32_t distances[DEFLATE_DISTANCES];
};

/* Of zeros before its first use. */
struct deflate_codes {
    packed literals[DEFLATE_NO_LITERAL + 256]; /* the second half stays zeros: nothing is sent */
    packed end;
    packed lengths[DEFLATE_MATCH_MAX + 1];
    packed distances[DEFLATE_WINDOW_RECORDS + 1]; /* by records */
};

/* Every symbol counts once, so that it has a code: what a sample does not hold may come all the
 * same. */
void deflate_counts_clear(struct deflate_counts *counts);
void deflate_count_literals(struct deflate_counts *counts, const uint8_t *bytes, size_t count);
/* length: DEFLATE_MATCH_MIN to DEFLATE_MATCH_MAX bytes; so many records back. */
void deflate_count_match(struct deflate_counts *counts, uint32_t length, uint32_t back);

/* The sample that codes are made from is pieces of a block, each with a start that only fills
 * tables, or all of a small block, without such a start. */
struct deflate_sample {
    uint32_t piece_records;
    uint32_t start_records; /* of them */
};

/* Counts what the records from `counted` to end - 1 would send; those from first on fill tables. */
typedef void deflate_count_piece(void *context, uint32_t first, uint32_t counted, uint32_t end);

/* Calls count for each piece of a block of so many records. */
void deflate_sample(const struct deflate_sample *sample, uint32_t records,
                    deflate_count_piece *count, void *context);

/* --- bits ------------------------------------------------------------------------------------ */

struct bit_writer {
    uint64_t bits; /* the low `count` of them, at most 7, are still to be written */
    unsigned count;
    uint8_t *out;
};

#define BITS_PUT_MAX 56u

/* Sends at most BITS_PUT_MAX bits. Writes 8 bytes, of which the ones behind the last whole one do
 * not count.
 */
DEFLATE_INLINE void bits_put(struct bit_writer *writer, uint64_t bits, unsigned count)
{
    writer->bits |= bits << writer->count;
    writer->count += count;
    memcpy(writer->out, &writer->bits, sizeof writer->bits);
    writer->out += writer->count >> 3;
    writer->bits >>= writer->count & ~7u;
    writer->count &= 7;
}

/* All bytes from `start` on, the last one filled up. */
static inline size_t bits_end(const struct bit_writer *writer, const uint8_t *start)
{
    return (size_t)(writer->out - start) + (writer->count > 0);
}

DEFLATE_INLINE uint64_t packed_bits(packed code)
{
    return code >> PACKED_COUNT_BITS;
}

/* Also of a sum of codes that are to be sent together. */
DEFLATE_INLINE unsigned packed_count(packed code)
{
    return code & ((1u << PACKED_COUNT_BITS) - 1);
}

/* One behind the other: the first goes out first. */
static inline packed packed_pair(packed first, packed second)
{
    const packed bits = (packed)(packed_bits(first) | packed_bits(second) << packed_count(first));
    return bits << PACKED_COUNT_BITS | (packed_count(first) + packed_count(second));
}

DEFLATE_INLINE void put_packed_pair(struct bit_writer *writer, packed first, packed second)
{
    bits_put(writer, packed_bits(first) | packed_bits(second) << packed_count(first),
             packed_count(first + second));
}

/* --- a block --------------------------------------------------------------------------------- */

/* Makes codes from counts, and sends the head of a block, the last of its stream, that has them:
 * fewer than 512 bytes. */
void deflate_codes_begin(struct deflate_codes *codes, struct deflate_counts *counts,
                         struct bit_writer *writer);

/* Sends so many literals, and the end of the block. */
void deflate_codes_end(const struct deflate_codes *codes, struct bit_writer *writer,
                       const uint8_t *bytes, size_t count);

/* Without compressing: a raw deflate stream of the bytes as they are. Returns its bytes. */
size_t deflate_store(const uint8_t *in, size_t size, uint8_t *out);

/* --- finding what was there before ------------------------------------------------------------ */

DEFLATE_INLINE uint64_t load64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* All ones or none: a choice by mask is never mispredicted. */
DEFLATE_INLINE uint32_t mask_if(bool condition)
{
    return 0u - (uint32_t)condition;
}

/* The same for a < b, both below 2^31, in one instruction less than compilers find. */
DEFLATE_INLINE uint32_t mask_if_below(uint32_t a, uint32_t b)
{
    return 0u - ((a - b) >> 31);
}

/* How many records back from i one with this number, modulo 2^16, is; 0 if it cannot be. */
DEFLATE_INLINE uint32_t records_back(uint32_t i, uint16_t number)
{
    uint32_t back = (uint16_t)(i - number);
    uint32_t furthest = i < DEFLATE_WINDOW_RECORDS ? i : DEFLATE_WINDOW_RECORDS;
    return back & mask_if_below(back, furthest + 1);
}

#endif
