#include "formats/deflate/deflate_program.h"

#include "formats/deflate/deflate_codes.h"

#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define TABLE_BITS 12
#define KIND_BITS  8
#define SPREAD     0x9e3779b97f4a7c15u /* odd, without a pattern */

static const struct deflate_sample sample = {.piece_records = 1300, .start_records = 500};

/* Records that are compared at a time: their bytes have one bit each in 64. */
#define GROUP       5u
#define GROUP_BYTES (GROUP * RECORD_BYTES)
#define GROUP_READS 64u /* bytes: slightly more than a group */
#define FOLLOWING   7u  /* records that must follow the first one of a group */

_Static_assert(GROUP_READS <= FOLLOWING * RECORD_BYTES && GROUP < FOLLOWING,
               "reads stay in the block");

/* A bit for the first byte of each record in a group. */
#define FIRST_BYTES    (1u | 1u << 12 | 1u << 24 | UINT64_C(1) << 36 | UINT64_C(1) << 48)
#define GROUP_BITS     ((UINT64_C(1) << GROUP_BYTES) - 1)
#define ADDRESS_BITS   15u
#define KIND_TIME_BITS 0xff0u
#define AT_TYPE        4u

#define NO_ADDRESS 1u /* an arbitrary guess: a hit is harmless */

/* A longer match is sent at once, which bounds the output of a group. */
#define PENDING_MAX (2 * DEFLATE_MATCH_MAX)

/* Maximum output between two checks of the space: five times a match and four bytes, the end of a
 * pending match; and space for the word that holds the last bits. */
#define GROUP_OUT_MAX 160u
#define HEAD_MAX      512u

struct deflate_program {
    bool wide; /* uses AVX2 and BMI */
    /* the last record's number by hash, modulo 2^16: a guess, verified by comparing bytes */
    uint16_t same_target[1u << TABLE_BITS]; /* of fetches that are jump targets */
    uint16_t same_but_low_byte[1u << TABLE_BITS];
    uint16_t same_kind_and_time[1u << KIND_BITS];
    struct deflate_codes codes;
    packed heads[256]; /* a literal, and a match from there to the record's end */
    struct deflate_counts counts;
};

struct deflate_program *deflate_program_new(void)
{
    struct deflate_program *deflater = calloc(1, sizeof *deflater);
#if defined(__x86_64__)
    if (deflater)
        deflater->wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                         __builtin_cpu_supports("bmi2");
#endif
    return deflater;
}

void deflate_program_narrow(struct deflate_program *deflater)
{
    deflater->wide = false;
}

void deflate_program_free(struct deflate_program *deflater)
{
    free(deflater);
}

static void forget(struct deflate_program *deflater)
{
    memset(deflater->same_target, 0, sizeof deflater->same_target);
    memset(deflater->same_but_low_byte, 0, sizeof deflater->same_but_low_byte);
    memset(deflater->same_kind_and_time, 0, sizeof deflater->same_kind_and_time);
}

/* --- sending, or counting what would be sent --------------------------------------------------
 */

/* A pass over records. Constant except for the writer and `i`. */
struct record_pass {
    struct deflate_program *deflater;
    const uint8_t *in;
    uint32_t records;
    bool counts; /* counts symbols, and sends nothing */
    const uint8_t *limit;
    uint32_t i; /* all records before it are sent */
    struct bit_writer writer;
};

/* The distance of matches, in records, and its code. */
struct origin {
    uint32_t back;
    packed code;
};

DEFLATE_INLINE struct origin origin_of(const struct record_pass *pass, uint32_t back)
{
    return (struct origin){.back = back, .code = pass->deflater->codes.distances[back]};
}

/* One to four bytes; four must be readable. */
DEFLATE_INLINE void put_literals(struct record_pass *pass, const uint8_t *bytes, unsigned count)
{
    const packed *literals = pass->deflater->codes.literals;
    if (pass->counts) {
        deflate_count_literals(&pass->deflater->counts, bytes, count);
        return;
    }
    put_packed_pair(&pass->writer, literals[bytes[0]],
                    literals[bytes[1] + (count < 2) * DEFLATE_NO_LITERAL]);
    if (count > 2)
        put_packed_pair(&pass->writer, literals[bytes[2]],
                        literals[bytes[3] + (count < 4) * DEFLATE_NO_LITERAL]);
}

DEFLATE_INLINE void put_match(struct record_pass *pass, uint32_t length, struct origin origin)
{
    if (pass->counts)
        deflate_count_match(&pass->deflater->counts, length, origin.back);
    else
        put_packed_pair(&pass->writer, pass->deflater->codes.lengths[length], origin.code);
}

/* Sends the beginning of a match that is too long. Returns the remaining length. */
DEFLATE_INLINE uint32_t shorten(struct record_pass *pass, uint32_t length, struct origin origin)
{
    while (__builtin_expect(length > DEFLATE_MATCH_MAX, 0)) {
        const uint32_t part = length < DEFLATE_MATCH_MAX + DEFLATE_MATCH_MIN
                                  ? DEFLATE_MATCH_MAX - DEFLATE_MATCH_MIN
                                  : DEFLATE_MATCH_MAX;
        put_match(pass, part, origin);
        length -= part;
    }
    return length;
}

/* A match, then one to four bytes; four must be readable. */
DEFLATE_INLINE void put_match_literals(struct record_pass *pass, uint32_t length,
                                       struct origin origin, const uint8_t *bytes, unsigned count)
{
    const struct deflate_codes *codes = &pass->deflater->codes;
    length = shorten(pass, length, origin);
    if (pass->counts || count > 2) {
        put_match(pass, length, origin);
        put_literals(pass, bytes, count);
        return;
    }
    const packed first = codes->lengths[length];
    const packed second = origin.code;
    const packed third = codes->literals[bytes[0]];
    const packed fourth = codes->literals[bytes[1] + (count < 2) * DEFLATE_NO_LITERAL];
    const unsigned match_count = packed_count(first + second);
    const unsigned literal_count = packed_count(third + fourth);
    const uint64_t match = packed_bits(first) | packed_bits(second) << packed_count(first);
    const uint64_t literals = packed_bits(third) | packed_bits(fourth) << packed_count(third);
    if (__builtin_expect(match_count + literal_count <= BITS_PUT_MAX, 1)) {
        bits_put(&pass->writer, match | literals << match_count, match_count + literal_count);
    } else {
        bits_put(&pass->writer, match, match_count);
        bits_put(&pass->writer, literals, literal_count);
    }
}

/* --- where the program was before -------------------------------------------------------------
 */

/* One bit for each byte of a group. */
struct comparison {
    uint64_t differ; /* from the bytes at the distance */
    uint64_t zero;
};

/* Compares GROUP records with those at `distance` bytes before; GROUP_READS bytes must be
 * readable. */
typedef struct comparison compare_function(const uint8_t *bytes, size_t distance);

#if defined(__x86_64__)
static inline struct comparison compare_any(const uint8_t *bytes, size_t distance)
{
    const __m128i none = _mm_setzero_si128();
    uint64_t same = 0;
    uint64_t zero = 0;
    for (unsigned at = 0; at < GROUP_READS; at += 16) {
        const uint8_t *then = bytes + at - distance;
        const __m128i now = _mm_loadu_si128((const __m128i *)(const void *)(bytes + at));
        const __m128i before = _mm_loadu_si128((const __m128i *)(const void *)then);
        same |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(now, before)) << at;
        zero |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(now, none)) << at;
    }
    return (struct comparison){.differ = ~same & GROUP_BITS, .zero = zero};
}
#else
static inline struct comparison compare_any(const uint8_t *bytes, size_t distance)
{
    struct comparison result = {0, 0};
    for (unsigned at = 0; at < GROUP_BYTES; at++) {
        result.differ |= (uint64_t)(bytes[at] != *(bytes + at - distance)) << at;
        result.zero |= (uint64_t)(bytes[at] == 0) << at;
    }
    return result;
}
#endif

#if defined(__x86_64__)
/* Variable shifts, of which the code is full, cost a third with BMI2. */
#define ON_AVX2 __attribute__((target("avx2,bmi,bmi2")))

ON_AVX2 static inline __m256i load256(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

ON_AVX2 static inline uint64_t bytes_equal(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
}

ON_AVX2 static inline struct comparison compare_avx2(const uint8_t *bytes, size_t distance)
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i low = load256(bytes);
    const __m256i high = load256(bytes + 32);
    const uint64_t same = bytes_equal(low, load256(bytes - distance)) |
                          bytes_equal(high, load256(bytes + 32 - distance)) << 32;
    const uint64_t zero = bytes_equal(low, none) | bytes_equal(high, none) << 32;
    return (struct comparison){.differ = ~same & GROUP_BITS, .zero = zero};
}
#endif

/* Where the program takes another path: a kind, a time, or the address of a fetch (type 0)
 * differs. */
DEFLATE_INLINE uint64_t other_way(const struct comparison *compared)
{
    const uint64_t fetches = compared->zero >> AT_TYPE & FIRST_BYTES;
    return compared->differ & (FIRST_BYTES * KIND_TIME_BITS | fetches * ADDRESS_BITS);
}

/* Sends a group's matches and the bytes between them, which are parts of addresses. *from: the
 * first byte not yet sent, before the group or in it. */
DEFLATE_INLINE void put_group(struct record_pass *pass, const uint8_t **from, const uint8_t *bytes,
                              uint64_t differ, struct origin origin)
{
    /* one or two equal bytes between two different ones are not a match */
    differ |=
        (differ << 1 & differ >> 1) | (differ << 1 & differ >> 2) | (differ << 2 & differ >> 1);
    while (differ) {
        const unsigned first = (unsigned)__builtin_ctzll(differ);
        const unsigned count = (unsigned)__builtin_ctzll(~(differ >> first));
        const uint8_t *other = bytes + first;
        put_match_literals(pass, (uint32_t)(other - *from), origin, other, count);
        *from = other + count;
        differ &= UINT64_MAX << (first + count);
    }
}

/* Follows the path that the program took `back` records ago while it is the same; the first record
 * is. False: no space left. */
DEFLATE_INLINE bool follow(struct record_pass *pass, uint32_t back, compare_function *compare)
{
    const size_t distance = (size_t)back * RECORD_BYTES;
    const struct origin origin = origin_of(pass, back);
    const uint8_t *bytes = pass->in + (size_t)pass->i * RECORD_BYTES;
    const uint8_t *from = bytes;
    uint32_t same = GROUP;
    while (same == GROUP && pass->records - pass->i > GROUP) {
        struct comparison compared = compare(bytes, distance);
        const uint64_t other = other_way(&compared);
        if (other) {
            same = (uint32_t)__builtin_ctzll(other) / RECORD_BYTES;
            compared.differ &= (UINT64_C(1) << same * RECORD_BYTES) - 1;
        }
        put_group(pass, &from, bytes, compared.differ, origin);
        bytes += (size_t)same * RECORD_BYTES;
        pass->i += same;
        for (; bytes - from > PENDING_MAX; from += DEFLATE_MATCH_MAX)
            put_match(pass, DEFLATE_MATCH_MAX, origin);
        if (!pass->counts && pass->writer.out >= pass->limit)
            return false;
    }
    put_match(pass, shorten(pass, (uint32_t)(bytes - from), origin), origin);
    return true;
}

/* --- records of their own ---------------------------------------------------------------------
 */

/* The distance to the last record that may have this hash; record i takes its slot. */
DEFLATE_INLINE uint32_t replace(uint16_t *table, uint64_t key, unsigned bits, uint32_t i)
{
    uint16_t *slot = &table[key * SPREAD >> (64 - bits)];
    const uint32_t back = records_back(i, *slot);
    *slot = (uint16_t)i;
    return back;
}

DEFLATE_INLINE const uint8_t *before(const uint8_t *bytes, uint32_t back)
{
    return bytes - (size_t)back * RECORD_BYTES;
}

/* The distance to the program's last execution of this address: this record is the same, and the
 * next one except for its address. 0: none. */
DEFLATE_INLINE uint32_t find_target(struct record_pass *pass, const uint8_t *bytes)
{
    const uint64_t low = load64(bytes);
    const uint32_t back = replace(pass->deflater->same_target, low, TABLE_BITS, pass->i);
    if (back == 0 || pass->records - pass->i < FOLLOWING)
        return 0;
    const uint8_t *then = before(bytes, back);
    const uint64_t differ = (load64(then) ^ low) | (load64(then + 4) ^ load64(bytes + 4)) |
                            (load64(then + 16) ^ load64(bytes + 16));
    return differ == 0 ? back : 0;
}

/* Like another record except for the low byte of its address; otherwise like one of the same
 * kind. */
DEFLATE_INLINE void put_record(struct record_pass *pass, const uint8_t *bytes)
{
    struct deflate_program *deflater = pass->deflater;
    const uint64_t low = load64(bytes); /* address and kind */
    const uint64_t high = load64(bytes + 4);
    uint32_t back = replace(deflater->same_but_low_byte, low >> 8, TABLE_BITS, pass->i);
    const uint8_t *then = before(bytes, back);
    if (back && ((load64(then) ^ low) >> 8 | (load64(then + 4) ^ high)) == 0) {
        if (pass->counts) {
            deflate_count_literals(&deflater->counts, bytes, 1);
            deflate_count_match(&deflater->counts, RECORD_BYTES - 1, back);
        } else {
            put_packed_pair(&pass->writer, deflater->heads[bytes[0]],
                            deflater->codes.distances[back]);
        }
        return;
    }
    back = replace(deflater->same_kind_and_time, high, KIND_BITS, pass->i);
    put_literals(pass, bytes, 4);
    if (back && load64(before(bytes, back) + 4) == high) {
        put_match(pass, 8, origin_of(pass, back));
    } else {
        put_literals(pass, bytes + 4, 4);
        put_literals(pass, bytes + 8, 4);
    }
}

/* All records from i on. False: no space left. */
DEFLATE_INLINE bool put_all(struct record_pass *given, bool counts, compare_function *compare)
{
    struct record_pass pass = *given;
    pass.counts = counts;           /* a compile-time constant */
    uint32_t expected = NO_ADDRESS; /* of the next fetch, unless the program jumps */
    bool fits = true;
    while (pass.i < pass.records && fits) {
        const uint8_t *bytes = pass.in + (size_t)pass.i * RECORD_BYTES;
        const uint64_t low = load64(bytes);
        const uint32_t address = (uint32_t)low;
        const uint32_t next = address + (uint8_t)(low >> 40);
        const bool fetch = (uint8_t)(low >> 32) == REQUEST_FETCH;
        const uint32_t back = fetch && address != expected ? find_target(&pass, bytes) : 0;
        if (back) {
            fits = follow(&pass, back, compare);
            expected = NO_ADDRESS;
            continue;
        }
        expected = fetch ? next : expected;
        put_record(&pass, bytes);
        pass.i++;
        fits = pass.counts || pass.writer.out < pass.limit;
    }
    *given = pass;
    return fits;
}

#if defined(__x86_64__)
ON_AVX2 static bool put_avx2(struct record_pass *pass)
{
    return put_all(pass, false, compare_avx2);
}

ON_AVX2 static bool count_avx2(struct record_pass *pass)
{
    return put_all(pass, true, compare_avx2);
}
#endif

static bool put_any(struct record_pass *pass)
{
    return put_all(pass, false, compare_any);
}

static bool count_any(struct record_pass *pass)
{
    return put_all(pass, true, compare_any);
}

static bool put_records(struct record_pass *pass, bool counts)
{
#if defined(__x86_64__)
    if (pass->deflater->wide)
        return counts ? count_avx2(pass) : put_avx2(pass);
#endif
    return counts ? count_any(pass) : put_any(pass);
}

/* --- a block ---------------------------------------------------------------------------------- */

static void count_piece(void *context, uint32_t first, uint32_t counted, uint32_t end)
{
    struct record_pass *pass = context;
    const struct deflate_counts counts = pass->deflater->counts;
    pass->i = first;
    pass->records = counted;
    put_records(pass, true);
    pass->deflater->counts = counts;
    pass->records = end;
    put_records(pass, true);
}

static void take_sample(struct deflate_program *deflater, const uint8_t *in, uint32_t records)
{
    struct record_pass pass = {.deflater = deflater, .in = in};
    deflate_counts_clear(&deflater->counts);
    forget(deflater);
    deflate_sample(&sample, records, count_piece, &pass);
    forget(deflater);
}

size_t deflate_program_encode(struct deflate_program *deflater, const uint8_t *in, size_t size,
                              uint8_t *out, size_t capacity)
{
    const uint32_t records = (uint32_t)(size / RECORD_BYTES);
    const size_t whole = (size_t)records * RECORD_BYTES;
    const size_t most = size < capacity ? size : capacity;
    const size_t reserve = HEAD_MAX + 2 * GROUP_OUT_MAX;
    if (most <= reserve)
        return deflate_store(in, size, out);
    take_sample(deflater, in, records);
    struct record_pass pass = {.deflater = deflater,
                               .in = in,
                               .records = records,
                               .limit = out + most - reserve,
                               .writer = {.out = out}};
    deflate_codes_begin(&deflater->codes, &deflater->counts, &pass.writer);
    for (unsigned byte = 0; byte < 256; byte++)
        deflater->heads[byte] =
            packed_pair(deflater->codes.literals[byte], deflater->codes.lengths[RECORD_BYTES - 1]);
    forget(deflater);
    if (!put_records(&pass, false))
        return deflate_store(in, size, out);
    deflate_codes_end(&deflater->codes, &pass.writer, in + whole, size - whole);
    return bits_end(&pass.writer, out);
}
