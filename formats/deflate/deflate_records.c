#include "formats/deflate/deflate_records.h"

#include "formats/deflate/deflate_codes.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_BITS 12

static const struct deflate_sample sample = {.piece_records = 2400, .start_records = 600};

#define NO_LITERAL 256u /* instead of an address's low byte: it is part of the match */

/* Maximum output of a record, with space for the word that holds the last bits. */
#define RECORD_OUT_MAX 48u

struct deflate_records {
    /* the last record's number by hash, modulo 2^16: a guess, verified by comparing bytes */
    uint16_t same_but_low_byte[1u << TABLE_BITS];
    uint16_t same_block_and_kind[1u << TABLE_BITS];
    uint16_t same_kind_and_time[1u << TABLE_BITS];
    struct deflate_codes codes;
    /* low byte and length together: of a match to the end of the kind (0) or of the record (1) */
    packed heads[2][NO_LITERAL + 1];
    struct deflate_counts counts; /* of the sample */
};

struct deflate_records *deflate_records_new(void)
{
    return calloc(1, sizeof(struct deflate_records));
}

void deflate_records_free(struct deflate_records *deflater)
{
    free(deflater);
}

/* --- finding matches ------------------------------------------------------------------------- */

/* Odd numbers without a pattern, to distribute keys over the tables. */
#define SPREAD_BLOCK 0x9e3779b97f4a7c15u
#define SPREAD_TIME  0xd6e8feb86659fd93u

DEFLATE_INLINE uint16_t *slot(uint16_t *table, uint64_t product)
{
    return &table[product >> (64 - TABLE_BITS)];
}

/* Stores record i in the slot; returns the previous number. */
DEFLATE_INLINE uint16_t exchange(uint16_t *entry, uint32_t i)
{
    uint16_t before = *entry;
    *entry = (uint16_t)i;
    return before;
}

/* The match of a record with an earlier one. */
struct record_match {
    uint32_t back;  /* distance in records; 0: the first two searches have no result */
    uint32_t whole; /* all ones: the match extends to the record's end; 0: to the end of its kind */
    uint32_t literal; /* the low byte of the address, or NO_LITERAL if the match begins with it */
    uint16_t timed;   /* number of a record that may have the same kind and time */
};

/* The first two searches, and stores record i in all tables. Without branches: the results are
 * unpredictable. */
DEFLATE_INLINE struct record_match find(struct deflate_records *deflater, const uint8_t *bytes,
                                        uint32_t i)
{
    const uint64_t low = load64(bytes);      /* address and kind */
    const uint64_t high = load64(bytes + 4); /* kind and time */
    const uint64_t block = low >> 8;         /* the address without its low byte, and the kind */
    const uint64_t block_spread = block * SPREAD_BLOCK;
    const uint64_t both_spread = block_spread ^ (high >> 32) * SPREAD_TIME;
    uint32_t back_a = records_back(i, exchange(slot(deflater->same_but_low_byte, both_spread), i));
    uint32_t back_b =
        records_back(i, exchange(slot(deflater->same_block_and_kind, block_spread), i));
    uint16_t timed = exchange(slot(deflater->same_kind_and_time, high * SPREAD_TIME), i);
    const uint8_t *a = bytes - (size_t)back_a * RECORD_BYTES;
    const uint8_t *b = bytes - (size_t)back_b * RECORD_BYTES;
    const uint64_t low_a = load64(a) ^ low;
    const uint64_t low_b = load64(b) ^ low;
    const uint32_t whole = mask_if((back_a != 0) & ((low_a >> 8 | (load64(a + 4) ^ high)) == 0));
    const uint32_t placed = mask_if(low_b >> 8 == 0) & ~whole;
    const uint32_t differs = ((uint32_t)low_a & whole) | ((uint32_t)low_b & placed);
    const uint32_t equal = mask_if((differs & 0xff) == 0);
    return (struct record_match){.back = (back_a & whole) | (back_b & placed),
                                 .whole = whole,
                                 .literal = (NO_LITERAL & equal) | (bytes[0] & ~equal),
                                 .timed = timed};
}

DEFLATE_INLINE bool same_kind_and_time(const uint8_t *bytes, uint32_t back)
{
    return back != 0 && load64(bytes - (size_t)back * RECORD_BYTES + 4) == load64(bytes + 4);
}

DEFLATE_INLINE bool same_record(const uint8_t *bytes, uint32_t back)
{
    const uint8_t *before = bytes - (size_t)back * RECORD_BYTES;
    return ((load64(before) ^ load64(bytes)) | (load64(before + 4) ^ load64(bytes + 4))) == 0;
}

/* Number of records after record i that equal those at the same distance; stores them in the
 * tables. */
static uint32_t find_run(struct deflate_records *deflater, const uint8_t *in, uint32_t i,
                         uint32_t records, uint32_t back)
{
    const uint32_t most = (DEFLATE_MATCH_MAX - RECORD_BYTES) / RECORD_BYTES;
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
    memset(deflater->same_block_and_kind, 0, sizeof deflater->same_block_and_kind);
    memset(deflater->same_kind_and_time, 0, sizeof deflater->same_kind_and_time);
}

/* --- codes from a sample --------------------------------------------------------------------- */

/* Counts the symbols of record i and the run after it. Returns the number of records. */
static uint32_t count_record(struct deflate_records *deflater, const uint8_t *in, uint32_t i,
                             uint32_t records)
{
    const uint8_t *bytes = in + (size_t)i * RECORD_BYTES;
    struct record_match found = find(deflater, bytes, i);
    if (found.back) {
        bool literal = found.literal != NO_LITERAL;
        uint32_t run = found.whole ? find_run(deflater, in, i, records, found.back) : 0;
        deflate_count_literals(&deflater->counts, bytes, literal);
        deflate_count_match(&deflater->counts,
                            (found.whole ? 12u : 8u) - literal + run * RECORD_BYTES, found.back);
        deflate_count_literals(&deflater->counts, bytes + 8, found.whole ? 0 : 4);
        return 1 + run;
    }
    uint32_t back = records_back(i, found.timed);
    bool timed = same_kind_and_time(bytes, back);
    deflate_count_literals(&deflater->counts, bytes, timed ? 4 : 12);
    if (timed)
        deflate_count_match(&deflater->counts, 8, back);
    return 1;
}

struct sampled_block {
    struct deflate_records *deflater;
    const uint8_t *in;
};

static void count_piece(void *context, uint32_t first, uint32_t counted, uint32_t end)
{
    const struct sampled_block *block = context;
    for (uint32_t i = first; i < counted; i++)
        find(block->deflater, block->in + (size_t)i * RECORD_BYTES, i);
    for (uint32_t i = counted; i < end;)
        i += count_record(block->deflater, block->in, i, end);
}

static void take_sample(struct deflate_records *deflater, const uint8_t *in, uint32_t records)
{
    struct sampled_block block = {deflater, in};
    forget(deflater);
    deflate_counts_clear(&deflater->counts);
    deflate_sample(&sample, records, count_piece, &block);
    forget(deflater);
}

static void pack_heads(struct deflate_records *deflater)
{
    const struct deflate_codes *codes = &deflater->codes;
    for (uint32_t s = 0; s < NO_LITERAL; s++) {
        deflater->heads[0][s] = packed_pair(codes->literals[s], codes->lengths[7]);
        deflater->heads[1][s] = packed_pair(codes->literals[s], codes->lengths[11]);
    }
    deflater->heads[0][NO_LITERAL] = codes->lengths[8];
    deflater->heads[1][NO_LITERAL] = codes->lengths[12];
}

/* --- bits ------------------------------------------------------------------------------------ */

struct literal_bits {
    uint64_t bits;
    unsigned count;
};

/* Four literals: at most 48 bits. */
DEFLATE_INLINE struct literal_bits four_literals(const struct deflate_records *deflater,
                                                 const uint8_t *bytes)
{
    const packed a = deflater->codes.literals[bytes[0]];
    const packed b = deflater->codes.literals[bytes[1]];
    const packed c = deflater->codes.literals[bytes[2]];
    const packed d = deflater->codes.literals[bytes[3]];
    const uint64_t first = packed_bits(a) | packed_bits(b) << packed_count(a);
    const uint64_t second = packed_bits(c) | packed_bits(d) << packed_count(c);
    const unsigned half = packed_count(a) + packed_count(b);
    return (struct literal_bits){.bits = first | second << half,
                                 .count = half + packed_count(c) + packed_count(d)};
}

DEFLATE_INLINE void put_literals(const struct deflate_records *deflater, struct bit_writer *writer,
                                 const uint8_t *bytes)
{
    const struct literal_bits four = four_literals(deflater, bytes);
    bits_put(writer, four.bits, four.count);
}

/* The low byte, if it is not in the match, the match, and the time, if it is not. */
DEFLATE_INLINE void put_found(const struct deflate_records *deflater, struct bit_writer *writer,
                              const uint8_t *bytes, const struct record_match *found)
{
    const packed head = deflater->heads[found->whole & 1][found->literal];
    const packed distance = deflater->codes.distances[found->back];
    const uint64_t match = packed_bits(head) | packed_bits(distance) << packed_count(head);
    const unsigned match_count = packed_count(head) + packed_count(distance);
    const struct literal_bits time = four_literals(deflater, bytes + 8);
    const unsigned time_count = time.count & ~found->whole;
    const uint64_t time_bits = time.bits & ~(uint64_t)(int64_t)(int32_t)found->whole;
    if (match_count + time_count <= BITS_PUT_MAX) {
        bits_put(writer, match | time_bits << match_count, match_count + time_count);
    } else {
        bits_put(writer, match, match_count);
        bits_put(writer, time_bits, time_count);
    }
}

/* A record without a result of the first two searches. */
static void put_other(const struct deflate_records *deflater, struct bit_writer *writer,
                      const uint8_t *bytes, uint32_t timed)
{
    put_literals(deflater, writer, bytes);
    if (same_kind_and_time(bytes, timed)) {
        put_packed_pair(writer, deflater->codes.lengths[8], deflater->codes.distances[timed]);
    } else {
        put_literals(deflater, writer, bytes + 4);
        put_literals(deflater, writer, bytes + 8);
    }
}

/* All records. False if they need more space than up to limit. */
DEFLATE_INLINE bool put_all(struct deflate_records *deflater, struct bit_writer *to,
                            const uint8_t *in, uint32_t records, const uint8_t *limit)
{
    struct bit_writer writer = *to;
    uint32_t i = 0;
    for (; i < records && writer.out < limit; i++) {
        const uint8_t *bytes = in + (size_t)i * RECORD_BYTES;
        const struct record_match found = find(deflater, bytes, i);
        if (!found.back) {
            put_other(deflater, &writer, bytes, records_back(i, found.timed));
            continue;
        }
        /* one branch instead of two: whether the match is whole is unpredictable */
        if (i + 1 < records &&
            (found.whole & mask_if(same_record(bytes + RECORD_BYTES, found.back)))) {
            bool literal = found.literal != NO_LITERAL;
            uint32_t run = find_run(deflater, in, i, records, found.back);
            if (literal)
                bits_put(&writer, packed_bits(deflater->codes.literals[bytes[0]]),
                         packed_count(deflater->codes.literals[bytes[0]]));
            put_packed_pair(&writer, deflater->codes.lengths[RECORD_BYTES * (1 + run) - literal],
                            deflater->codes.distances[found.back]);
            i += run;
            continue;
        }
        put_found(deflater, &writer, bytes, &found);
    }
    *to = writer;
    return i == records;
}

#if defined(__x86_64__)
/* Variable shifts, of which the loop is full, cost a third with BMI2. */
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
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return put_all_bmi2(deflater, to, in, records, limit);
#endif
    return put_all(deflater, to, in, records, limit);
}

size_t deflate_records_encode(struct deflate_records *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity)
{
    const uint32_t records = (uint32_t)(size / RECORD_BYTES);
    const size_t whole = (size_t)records * RECORD_BYTES;
    const size_t most = size < capacity ? size : capacity;
    /* the block's header, the last record, a partial record and the block's end may exceed the
     * limit */
    const size_t reserve = 512 + 2 * RECORD_OUT_MAX;
    if (most <= reserve)
        return deflate_store(in, size, out);
    take_sample(deflater, in, records);
    struct bit_writer writer = {.out = out};
    deflate_codes_begin(&deflater->codes, &deflater->counts, &writer);
    pack_heads(deflater);
    if (!put_records(deflater, &writer, in, records, out + most - reserve))
        return deflate_store(in, size, out);
    deflate_codes_end(&deflater->codes, &writer, in + whole, size - whole);
    return bits_end(&writer, out);
}
