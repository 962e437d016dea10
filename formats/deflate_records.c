#include "formats/deflate_records.h"

#include "formats/huffman.h"
#include "formats/record.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_RECORDS (32768u / RECORD_BYTES) /* deflate looks back 32 KiB */
#define TABLE_BITS     12
#define MATCH_MAX      258u
#define END_OF_BLOCK   256u
#define LENGTH_SYMBOLS 29u
#define DISTANCE_CODES 30u
#define LITERALS       286u
#define STORED_MAX     65535u

/* Longest codes: short enough for what is sent together to fit one 64-bit word (see packed). */
#define LITERAL_CODE_MAX  12u
#define DISTANCE_CODE_MAX 10u

/* The sample that codes are made from: so many pieces of the block, each after a start that only
 * fills tables. */
#define SAMPLE_PIECES       4u
#define SAMPLE_WARM_RECORDS 600u
#define SAMPLE_RECORDS      2400u

#define NO_LITERAL 256u /* in place of an address's low byte: it is part of the match */

/* What a record sends at the most, and room for the word that the last bits are stored in. */
#define RECORD_OUT_MAX 48u

/*
 * A code with its extra bits: the bits in the low 27, how many in the high 5. The longest is a low
 * byte's literal (12 bits) with a length (12 and 1 extra); a distance has 10 and 13.
 */
typedef uint32_t packed;
#define PACKED_BITS 27

/* Inlined into code for several processors. */
#define ALWAYS_INLINE __attribute__((always_inline)) static inline

struct deflate_records {
    /* the last record's number by hash, modulo 2^16: a guess, the bytes are compared */
    uint16_t same_but_low_byte[1u << TABLE_BITS];
    uint16_t same_place_and_kind[1u << TABLE_BITS];
    uint16_t same_kind_and_time[1u << TABLE_BITS];
    packed literals[256];
    packed lengths[MATCH_MAX + 1];
    packed distances[WINDOW_RECORDS + 1]; /* by records */
    /* low byte and length together: of a match to the end of the kind (0) or of the record (1) */
    packed heads[2][NO_LITERAL + 1];
    /* what the sample holds */
    uint32_t literal_counts[LITERALS];
    uint32_t length_counts[MATCH_MAX + 1];
    uint32_t distance_counts[DISTANCE_CODES];
};

/* RFC 1951, 3.2.5 */
static const uint16_t length_bases[LENGTH_SYMBOLS] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                      15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                      67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra_bits[LENGTH_SYMBOLS] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

struct deflate_records *deflate_records_new(void)
{
    return calloc(1, sizeof(struct deflate_records));
}

void deflate_records_free(struct deflate_records *deflater)
{
    free(deflater);
}

/* --- finding matches ------------------------------------------------------------------------- */

ALWAYS_INLINE uint64_t load64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Odd numbers without a pattern, to spread keys over the tables. */
#define SPREAD_PLACE 0x9e3779b97f4a7c15u
#define SPREAD_TIME  0xd6e8feb86659fd93u

ALWAYS_INLINE uint16_t *slot(uint16_t *table, uint64_t product)
{
    return &table[product >> (64 - TABLE_BITS)];
}

/* All ones or none: a choice by mask is never mispredicted. */
ALWAYS_INLINE uint32_t mask_if(bool condition)
{
    return 0u - (uint32_t)condition;
}

/* The same for a < b, both below 2^31, in one instruction less than compilers find. */
ALWAYS_INLINE uint32_t mask_if_below(uint32_t a, uint32_t b)
{
    return 0u - ((a - b) >> 31);
}

/* Puts record i into the slot; returns the number that was there. */
ALWAYS_INLINE uint16_t exchange(uint16_t *place, uint32_t i)
{
    uint16_t before = *place;
    *place = (uint16_t)i;
    return before;
}

/* How many records back from i the number of a slot is; 0 if it cannot be. */
ALWAYS_INLINE uint32_t records_back(uint32_t i, uint16_t number)
{
    uint32_t back = (uint16_t)(i - number);
    uint32_t furthest = i < WINDOW_RECORDS ? i : WINDOW_RECORDS;
    return back & mask_if_below(back, furthest + 1);
}

/* What is known of a record from those before it. */
struct found {
    uint32_t back;  /* records; 0: neither of the first two questions has an answer */
    uint32_t whole; /* all ones: the match goes to the record's end; 0: to that of its kind */
    uint32_t
        literal;    /* the low byte of the address, or NO_LITERAL where the match begins with it */
    uint16_t timed; /* number of a record that may have the same kind and time */
};

/* Asks the first two questions, and puts record i into all tables. Without a branch: the answers
 * come as they will. */
ALWAYS_INLINE struct found find(struct deflate_records *deflater, const uint8_t *bytes, uint32_t i)
{
    const uint64_t low = load64(bytes);      /* address and kind */
    const uint64_t high = load64(bytes + 4); /* kind and time */
    const uint64_t place = low >> 8;         /* the address without its low byte, and the kind */
    const uint64_t place_spread = place * SPREAD_PLACE;
    const uint64_t both_spread = place_spread ^ (high >> 32) * SPREAD_TIME;
    uint32_t back_a = records_back(i, exchange(slot(deflater->same_but_low_byte, both_spread), i));
    uint32_t back_b =
        records_back(i, exchange(slot(deflater->same_place_and_kind, place_spread), i));
    uint16_t timed = exchange(slot(deflater->same_kind_and_time, high * SPREAD_TIME), i);
    const uint8_t *a = bytes - (size_t)back_a * RECORD_BYTES;
    const uint8_t *b = bytes - (size_t)back_b * RECORD_BYTES;
    const uint64_t low_a = load64(a) ^ low;
    const uint64_t low_b = load64(b) ^ low;
    const uint32_t whole = mask_if((back_a != 0) & ((low_a >> 8 | (load64(a + 4) ^ high)) == 0));
    const uint32_t placed = mask_if(low_b >> 8 == 0) & ~whole;
    const uint32_t differs = ((uint32_t)low_a & whole) | ((uint32_t)low_b & placed);
    const uint32_t equal = mask_if((differs & 0xff) == 0);
    return (struct found){.back = (back_a & whole) | (back_b & placed),
                          .whole = whole,
                          .literal = (NO_LITERAL & equal) | (bytes[0] & ~equal),
                          .timed = timed};
}

ALWAYS_INLINE bool same_kind_and_time(const uint8_t *bytes, uint32_t back)
{
    return back != 0 && load64(bytes - (size_t)back * RECORD_BYTES + 4) == load64(bytes + 4);
}

ALWAYS_INLINE bool same_record(const uint8_t *bytes, uint32_t back)
{
    const uint8_t *before = bytes - (size_t)back * RECORD_BYTES;
    return ((load64(before) ^ load64(bytes)) | (load64(before + 4) ^ load64(bytes + 4))) == 0;
}

/* How many records behind record i are the same as those at the same distance; they go into the
 * tables. */
static uint32_t find_run(struct deflate_records *deflater, const uint8_t *in, uint32_t i,
                         uint32_t records, uint32_t back)
{
    const uint32_t most = (MATCH_MAX - RECORD_BYTES) / RECORD_BYTES;
    uint32_t run = 0;
    while (run < most && i + 1 + run < records &&
           same_record(in + (size_t)(i + 1 + run) * RECORD_BYTES, back)) {
        run++;
        find(deflater, in + (size_t)(i + run) * RECORD_BYTES, i + run);
    }
    return run;
}

static void forget(struct deflate_records *deflater)
{
    memset(deflater->same_but_low_byte, 0, sizeof deflater->same_but_low_byte);
    memset(deflater->same_place_and_kind, 0, sizeof deflater->same_place_and_kind);
    memset(deflater->same_kind_and_time, 0, sizeof deflater->same_kind_and_time);
}

/* --- codes from a sample --------------------------------------------------------------------- */

/* RFC 1951, 3.2.5: the distance code of 5 bytes and more. */
static uint32_t distance_code(uint32_t distance)
{
    uint32_t top = 31u - (uint32_t)__builtin_clz(distance - 1);
    return 2 * top + ((distance - 1) >> (top - 1) & 1);
}

static uint32_t length_symbol(uint32_t length)
{
    uint32_t symbol = LENGTH_SYMBOLS - 1;
    while (length_bases[symbol] > length)
        symbol--;
    return symbol;
}

static void count_literals(struct deflate_records *deflater, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        deflater->literal_counts[bytes[i]]++;
}

static void count_match(struct deflate_records *deflater, uint32_t length, uint32_t back)
{
    deflater->length_counts[length]++;
    deflater->distance_counts[distance_code(back * RECORD_BYTES)]++;
}

/* Counts what record i, and the run behind it, would send. Returns the records it covers. */
static uint32_t count_record(struct deflate_records *deflater, const uint8_t *in, uint32_t i,
                             uint32_t records)
{
    const uint8_t *bytes = in + (size_t)i * RECORD_BYTES;
    struct found found = find(deflater, bytes, i);
    if (found.back) {
        bool literal = found.literal != NO_LITERAL;
        uint32_t run = found.whole ? find_run(deflater, in, i, records, found.back) : 0;
        count_literals(deflater, bytes, literal);
        count_match(deflater, (found.whole ? 12u : 8u) - literal + run * RECORD_BYTES, found.back);
        count_literals(deflater, bytes + 8, found.whole ? 0 : 4);
        return 1 + run;
    }
    uint32_t back = records_back(i, found.timed);
    bool timed = same_kind_and_time(bytes, back);
    count_literals(deflater, bytes, timed ? 4 : 12);
    if (timed)
        count_match(deflater, 8, back);
    return 1;
}

/* Every symbol counts once, so that it has a code: what the sample does not hold may come all the
 * same. */
static void clear_counts(struct deflate_records *deflater)
{
    for (size_t s = 0; s < LITERALS; s++)
        deflater->literal_counts[s] = 1;
    memset(deflater->length_counts, 0, sizeof deflater->length_counts);
    for (size_t d = 0; d < DISTANCE_CODES; d++)
        deflater->distance_counts[d] = 1;
}

/* Counts the records from first to end - 1, behind some that only fill the tables. */
static void count_piece(struct deflate_records *deflater, const uint8_t *in, uint32_t first,
                        uint32_t end, uint32_t warm)
{
    for (uint32_t i = first; i < first + warm; i++)
        find(deflater, in + (size_t)i * RECORD_BYTES, i);
    for (uint32_t i = first + warm; i < end;)
        i += count_record(deflater, in, i, end);
}

static void take_sample(struct deflate_records *deflater, const uint8_t *in, uint32_t records)
{
    forget(deflater);
    clear_counts(deflater);
    if (records <= 2 * SAMPLE_PIECES * SAMPLE_RECORDS) {
        count_piece(deflater, in, 0, records, 0);
    } else {
        uint32_t step = (records - SAMPLE_RECORDS) / (SAMPLE_PIECES - 1);
        for (uint32_t piece = 0; piece < SAMPLE_PIECES; piece++)
            count_piece(deflater, in, piece * step, piece * step + SAMPLE_RECORDS,
                        SAMPLE_WARM_RECORDS);
    }
    for (uint32_t length = 3; length <= MATCH_MAX; length++)
        deflater->literal_counts[257 + length_symbol(length)] += deflater->length_counts[length];
    forget(deflater);
}

static packed pack(uint32_t bits, uint32_t count)
{
    return bits | count << PACKED_BITS;
}

/* One behind the other: the first goes out first. */
static packed pack_pair(packed first, packed second)
{
    uint32_t count = first >> PACKED_BITS;
    uint32_t low = (1u << PACKED_BITS) - 1;
    return pack((first & low) | (second & low) << count, count + (second >> PACKED_BITS));
}

static void pack_codes(struct deflate_records *deflater, const struct huffman_code *literals,
                       const struct huffman_code *distances)
{
    for (uint32_t s = 0; s < 256; s++)
        deflater->literals[s] = pack(literals[s].bits, literals[s].length);
    for (uint32_t length = 3; length <= MATCH_MAX; length++) {
        uint32_t symbol = length_symbol(length);
        const struct huffman_code *code = &literals[257 + symbol];
        deflater->lengths[length] =
            pack(code->bits | (length - length_bases[symbol]) << code->length,
                 code->length + length_extra_bits[symbol]);
    }
    for (uint32_t back = 1; back <= WINDOW_RECORDS; back++) {
        uint32_t extra = back * RECORD_BYTES - 1;
        uint32_t d = distance_code(back * RECORD_BYTES);
        uint32_t extra_bits = d / 2 - 1;
        extra &= (1u << extra_bits) - 1;
        deflater->distances[back] = pack(distances[d].bits | extra << distances[d].length,
                                         distances[d].length + extra_bits);
    }
    for (uint32_t s = 0; s < NO_LITERAL; s++) {
        deflater->heads[0][s] = pack_pair(deflater->literals[s], deflater->lengths[7]);
        deflater->heads[1][s] = pack_pair(deflater->literals[s], deflater->lengths[11]);
    }
    deflater->heads[0][NO_LITERAL] = deflater->lengths[8];
    deflater->heads[1][NO_LITERAL] = deflater->lengths[12];
}

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
ALWAYS_INLINE void bits_put(struct bit_writer *writer, uint64_t bits, unsigned count)
{
    writer->bits |= bits << writer->count;
    writer->count += count;
    memcpy(writer->out, &writer->bits, sizeof writer->bits);
    writer->out += writer->count >> 3;
    writer->bits >>= writer->count & ~7u;
    writer->count &= 7;
}

ALWAYS_INLINE uint64_t packed_bits(packed code)
{
    return code & ((1u << PACKED_BITS) - 1);
}

ALWAYS_INLINE unsigned packed_count(packed code)
{
    return code >> PACKED_BITS;
}

ALWAYS_INLINE void put_packed_pair(struct bit_writer *writer, packed first, packed second)
{
    bits_put(writer, packed_bits(first) | packed_bits(second) << packed_count(first),
             packed_count(first) + packed_count(second));
}

struct bits {
    uint64_t bits;
    unsigned count;
};

/* Four literals: at most 48 bits. */
ALWAYS_INLINE struct bits four_literals(const struct deflate_records *deflater,
                                        const uint8_t *bytes)
{
    const packed a = deflater->literals[bytes[0]];
    const packed b = deflater->literals[bytes[1]];
    const packed c = deflater->literals[bytes[2]];
    const packed d = deflater->literals[bytes[3]];
    const uint64_t first = packed_bits(a) | packed_bits(b) << packed_count(a);
    const uint64_t second = packed_bits(c) | packed_bits(d) << packed_count(c);
    const unsigned half = packed_count(a) + packed_count(b);
    return (struct bits){first | second << half, half + packed_count(c) + packed_count(d)};
}

ALWAYS_INLINE void put_literals(const struct deflate_records *deflater, struct bit_writer *writer,
                                const uint8_t *bytes)
{
    const struct bits four = four_literals(deflater, bytes);
    bits_put(writer, four.bits, four.count);
}

/* The low byte, if it is not in the match, the match, and the time, if it is not. */
ALWAYS_INLINE void put_found(const struct deflate_records *deflater, struct bit_writer *writer,
                             const uint8_t *bytes, const struct found *found)
{
    const packed head = deflater->heads[found->whole & 1][found->literal];
    const packed distance = deflater->distances[found->back];
    const uint64_t match = packed_bits(head) | packed_bits(distance) << packed_count(head);
    const unsigned match_count = packed_count(head) + packed_count(distance);
    const struct bits time = four_literals(deflater, bytes + 8);
    const unsigned time_count = time.count & ~found->whole;
    const uint64_t time_bits = time.bits & ~(uint64_t)(int64_t)(int32_t)found->whole;
    if (match_count + time_count <= BITS_PUT_MAX) {
        bits_put(writer, match | time_bits << match_count, match_count + time_count);
    } else {
        bits_put(writer, match, match_count);
        bits_put(writer, time_bits, time_count);
    }
}

/* A record that neither of the first two questions found. */
static void put_other(const struct deflate_records *deflater, struct bit_writer *writer,
                      const uint8_t *bytes, uint32_t timed)
{
    put_literals(deflater, writer, bytes);
    if (same_kind_and_time(bytes, timed)) {
        put_packed_pair(writer, deflater->lengths[8], deflater->distances[timed]);
    } else {
        put_literals(deflater, writer, bytes + 4);
        put_literals(deflater, writer, bytes + 8);
    }
}

/* All records. False if that takes more room than there is before limit. */
ALWAYS_INLINE bool put_all(struct deflate_records *deflater, struct bit_writer *to,
                           const uint8_t *in, uint32_t records, const uint8_t *limit)
{
    struct bit_writer writer = *to;
    uint32_t i = 0;
    for (; i < records && writer.out < limit; i++) {
        const uint8_t *bytes = in + (size_t)i * RECORD_BYTES;
        const struct found found = find(deflater, bytes, i);
        if (!found.back) {
            put_other(deflater, &writer, bytes, records_back(i, found.timed));
            continue;
        }
        /* one question to the branch predictor, not two: whether the match is whole is a toss-up */
        if (i + 1 < records &&
            (found.whole & mask_if(same_record(bytes + RECORD_BYTES, found.back)))) {
            bool literal = found.literal != NO_LITERAL;
            uint32_t run = find_run(deflater, in, i, records, found.back);
            if (literal)
                bits_put(&writer, packed_bits(deflater->literals[bytes[0]]),
                         packed_count(deflater->literals[bytes[0]]));
            put_packed_pair(&writer, deflater->lengths[RECORD_BYTES * (1 + run) - literal],
                            deflater->distances[found.back]);
            i += run;
            continue;
        }
        put_found(deflater, &writer, bytes, &found);
    }
    *to = writer;
    return i == records;
}

#if defined(__x86_64__)
/* Shifts by a variable number of bits, of which the loop is full, cost a third with BMI2. */
__attribute__((target("bmi,bmi2"))) static bool put_all_bmi2(struct deflate_records *deflater,
                                                             struct bit_writer *to,
                                                             const uint8_t *in, uint32_t records,
                                                             const uint8_t *limit)
{
    return put_all(deflater, to, in, records, limit);
}
#endif

static bool put_records(struct deflate_records *deflater, struct bit_writer *to, const uint8_t *in,
                        uint32_t records, const uint8_t *limit)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("bmi2"))
        return put_all_bmi2(deflater, to, in, records, limit);
#endif
    return put_all(deflater, to, in, records, limit);
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
    for (size_t i = 0; i < LITERALS; i++)
        counts[literals[i].length]++;
    for (size_t i = 0; i < DISTANCE_CODES; i++)
        counts[distances[i].length]++;
    huffman_build(counts, 19, 7, codes);
    bits_put(writer, LITERALS - 257, 5);
    bits_put(writer, DISTANCE_CODES - 1, 5);
    bits_put(writer, 19 - 4, 4);
    for (size_t i = 0; i < 19; i++)
        bits_put(writer, codes[order[i]].length, 3);
    for (size_t i = 0; i < LITERALS; i++)
        bits_put(writer, codes[literals[i].length].bits, codes[literals[i].length].length);
    for (size_t i = 0; i < DISTANCE_CODES; i++)
        bits_put(writer, codes[distances[i].length].bits, codes[distances[i].length].length);
}

/* RFC 1951, 3.2.4 */
size_t deflate_records_store(const uint8_t *in, size_t size, uint8_t *out)
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

size_t deflate_records_encode(struct deflate_records *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity)
{
    struct huffman_code literals[LITERALS];
    struct huffman_code distances[DISTANCE_CODES];
    const uint32_t records = (uint32_t)(size / RECORD_BYTES);
    const size_t whole = (size_t)records * RECORD_BYTES;
    const size_t most = size < capacity ? size : capacity;
    /* the head of the block, a last record, a part record and the end of the block go beyond the
     * limit */
    const size_t reserve = 512 + 2 * RECORD_OUT_MAX;
    if (most <= reserve)
        return deflate_records_store(in, size, out);
    take_sample(deflater, in, records);
    huffman_build(deflater->literal_counts, LITERALS, LITERAL_CODE_MAX, literals);
    huffman_build(deflater->distance_counts, DISTANCE_CODES, DISTANCE_CODE_MAX, distances);
    pack_codes(deflater, literals, distances);
    struct bit_writer writer = {.out = out};
    bits_put(&writer, 1 | 2 << 1, 3); /* the last block; type 2, codes of its own */
    put_code_lengths(&writer, literals, distances);
    if (!put_records(deflater, &writer, in, records, out + most - reserve))
        return deflate_records_store(in, size, out);
    for (size_t at = whole; at < size; at++)
        bits_put(&writer, literals[in[at]].bits, literals[in[at]].length);
    bits_put(&writer, literals[END_OF_BLOCK].bits, literals[END_OF_BLOCK].length);
    return (size_t)(writer.out - out) + (writer.count > 0);
}
