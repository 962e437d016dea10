/*
 * Shared by the compressors of 12-byte records: one deflate block with dynamic codes (RFC 1951),
 * made from the symbol counts of a sample, and its bits. Distances are whole records.
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
#define DEFLATE_NO_LITERAL     256u /* added to a byte: no literal is sent */

/* Inlined into code for several processors. */
#define DEFLATE_INLINE __attribute__((always_inline)) static inline

/*
 * A code with its extra bits: their number in the low 6 bits, the bits above. The longest is a
 * literal (12 bits) with a length (12 and 1 extra); a distance has 10 and 13.
 */
typedef uint32_t packed;
#define PACKED_COUNT_BITS 6

/* Number of occurrences of each symbol. */
struct deflate_counts {
    uint32_t literals[DEFLATE_LITERALS];
    uint32_t lengths[DEFLATE_MATCH_MAX + 1];
    uint32_t distances[DEFLATE_DISTANCES];
};

/* Must be zeroed before first use. */
struct deflate_codes {
    packed literals[DEFLATE_NO_LITERAL + 256]; /* the second half stays zero: nothing is sent */
    packed end;
    packed lengths[DEFLATE_MATCH_MAX + 1];
    packed distances[DEFLATE_WINDOW_RECORDS + 1]; /* by records */
};

/* Sets each count to one, so that every symbol has a code: the block may contain symbols that the
 * sample lacks. */
void deflate_counts_clear(struct deflate_counts *counts);
void deflate_count_literals(struct deflate_counts *counts, const uint8_t *bytes, size_t count);
/* length: DEFLATE_MATCH_MIN to DEFLATE_MATCH_MAX bytes; back: the distance in records. */
void deflate_count_match(struct deflate_counts *counts, uint32_t length, uint32_t back);

/* The sample for the codes consists of parts of a block, each with a beginning that only fills
 * tables, or of a whole small block, without such a beginning. */
struct deflate_sample {
    uint32_t piece_records;
    uint32_t start_records; /* of them */
};

/* Counts the symbols of the records from `counted` to end - 1; those from first on fill tables. */
typedef void deflate_count_piece(void *context, uint32_t first, uint32_t counted, uint32_t end);

/* Calls count for each part of a block with this number of records. */
void deflate_sample(const struct deflate_sample *sample, uint32_t records,
                    deflate_count_piece *count, void *context);

/* --- bits ------------------------------------------------------------------------------------ */

struct bit_writer {
    uint64_t bits; /* the low `count` bits, at most 7, are not yet written */
    unsigned count;
    uint8_t *out;
};

#define BITS_PUT_MAX 56u

/* Sends at most BITS_PUT_MAX bits. Writes 8 bytes; those after the last complete one are
 * overwritten later. */
DEFLATE_INLINE void bits_put(struct bit_writer *writer, uint64_t bits, unsigned count)
{
    writer->bits |= bits << writer->count;
    writer->count += count;
    memcpy(writer->out, &writer->bits, sizeof writer->bits);
    writer->out += writer->count >> 3;
    writer->bits >>= writer->count & ~7u;
    writer->count &= 7;
}

/* The number of bytes from `start`, with the last one padded. */
static inline size_t bits_end(const struct bit_writer *writer, const uint8_t *start)
{
    return (size_t)(writer->out - start) + (writer->count > 0);
}

DEFLATE_INLINE uint64_t packed_bits(packed code)
{
    return code >> PACKED_COUNT_BITS;
}

/* The length in bits, also of concatenated codes. */
DEFLATE_INLINE unsigned packed_count(packed code)
{
    return code & ((1u << PACKED_COUNT_BITS) - 1);
}

/* Concatenates: the first is sent first. */
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

/* Makes codes from counts, and sends the header of a block, the last of its stream, with these
 * codes: fewer than 512 bytes. */
void deflate_codes_begin(struct deflate_codes *codes, struct deflate_counts *counts,
                         struct bit_writer *writer);

/* Sends count literals, and the end of the block. */
void deflate_codes_end(const struct deflate_codes *codes, struct bit_writer *writer,
                       const uint8_t *bytes, size_t count);

/* A raw deflate stream of stored blocks. Returns its bytes. */
size_t deflate_store(const uint8_t *in, size_t size, uint8_t *out);

/* --- finding what was there before ------------------------------------------------------------ */

DEFLATE_INLINE uint64_t load64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* All ones or zero: a selection by mask is never mispredicted. */
DEFLATE_INLINE uint32_t mask_if(bool condition)
{
    return 0u - (uint32_t)condition;
}

/* The same for a < b, both below 2^31, in one instruction less than compilers generate. */
DEFLATE_INLINE uint32_t mask_if_below(uint32_t a, uint32_t b)
{
    return 0u - ((a - b) >> 31);
}

/* The distance from record i back to the last one with this number modulo 2^16; 0 if it is
 * impossible. */
DEFLATE_INLINE uint32_t records_back(uint32_t i, uint16_t number)
{
    uint32_t back = (uint16_t)(i - number);
    uint32_t furthest = i < DEFLATE_WINDOW_RECORDS ? i : DEFLATE_WINDOW_RECORDS;
    return back & mask_if_below(back, furthest + 1);
}

#endif
