/*
 * The wide form of stacks (lru_stacks_internal.h) with AVX-512: a set is one vector, and masks
 * choose its entries. Most of these instructions go through one or two ports of the processor, so
 * that what can be loaded (a broadcast tag) or done with other registers is.
 */
#include "tools/cache/model/lru_stacks_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ON_AVX512 __attribute__((target("avx512f,avx2,bmi,bmi2")))
#define ALWAYS    static inline __attribute__((always_inline))

/* The low half of an element of the queue, too. */
typedef uint32_t __attribute__((may_alias)) lane;

ON_AVX512 ALWAYS __m512i load(const uint32_t *set, unsigned size)
{
    return size == LRU_WIDE_WAYS
               ? _mm512_load_si512(set)
               : _mm512_castsi256_si512(_mm256_load_si256((const __m256i *)(const void *)set));
}

ON_AVX512 ALWAYS void store(uint32_t *set, unsigned size, __m512i entries)
{
    if (size == LRU_WIDE_WAYS)
        _mm512_store_si512(set, entries);
    else
        _mm256_store_si256((__m256i *)(void *)set, _mm512_castsi512_si256(entries));
}

/* A value of memory in all lanes, by a load alone: a compiler that has the value in a register
 * would occupy the port that masks need. */
ON_AVX512 ALWAYS __m512i broadcast(const lane *value)
{
    __m512i all;
    __asm__("vpbroadcastd %1, %0" : "=v"(all) : "m"(*value));
    return all;
}

/*
 * Moves a line to the top of its set. Returns its former place or, if it was absent, `ways`; *first
 * becomes 1 if nothing changed, else 0. address: of the line, with the write's bit. kept: the bits
 * that an entry keeps when it is referred to, none for a write.
 */
ON_AVX512 ALWAYS unsigned raise_line(uint32_t *set, unsigned ways, unsigned size,
                                     const lane *address, const lane *kept, __m512i *write_backs,
                                     unsigned *first)
{
    /* of an entry that comes from the place above: the ways with which it is dirty, if it leaves
     * the cache with just as many. The first receives the last. */
    const __m512i leaving =
        _mm512_setr_epi32(16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i levels = _mm512_set1_epi32(WIDE_LEVEL);
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i entries = load(set, size);
    const __m512i addresses = broadcast(address);
    const __m512i differences = _mm512_xor_si512(entries, addresses);
    const uint32_t present = _mm512_cmple_epu32_mask(differences, levels);
    const uint32_t found = present | 1u << ways;
    const uint32_t moved = found ^ (found - 1);
    const bool full = ways == LRU_WIDE_WAYS;
    const __mmask16 places = (__mmask16)(full ? (moved & ~1u) | moved >> 16 : moved & ~1u);
    const __mmask16 hit = (__mmask16)(full ? present : present & ((1u << ways) - 1));
    const __m512i from_above = _mm512_alignr_epi32(entries, entries, 15);
    const __mmask16 leaves =
        _mm512_mask_cmpeq_epi32_mask(places, _mm512_and_si512(from_above, levels), leaving);
    const __m512i level =
        _mm512_and_si512(_mm512_maskz_compress_epi32(hit, differences), broadcast(kept));
    *first = (*set ^ *address) <= *kept;
    __asm__("" : "+r"(*first)); /* one comparison rather than one for each use */
    *write_backs = _mm512_mask_add_epi32(*write_backs, leaves, *write_backs, one);
    __m512i now = _mm512_mask_mov_epi32(entries, places, from_above);
    now = _mm512_mask_add_epi32(now, leaves, now, one);
    store(set, size, _mm512_mask_xor_epi32(now, 1, level, addresses));
    return (unsigned)__builtin_ctz(found);
}

ON_AVX512 ALWAYS unsigned work(struct stacks_side *side, const struct stack_depth *of,
                               struct depth_counts *counts, unsigned count, unsigned size,
                               unsigned ways, bool prefetching)
{
    const struct stack_depth depth = *of;
    struct wide_counts queue = {.write_backs = {0}};
    __m512i write_backs = _mm512_setzero_si512();
    uint32_t kept_level[STACKS_KINDS] = {0};
    uint64_t *waiting = side->waiting;
    uint64_t *to = waiting;
    kept_level[REFERENCE_FETCH] = kept_level[REFERENCE_READ] = WIDE_LEVEL;
    for (const uint64_t *from = waiting; from < waiting + count; from++) {
        const uint64_t one = *from;
        const unsigned kind = waiting_kind(one);
        unsigned first;
        if (prefetching)
            __builtin_prefetch(lru_wide_set(side->banks, &depth, size, from[AHEAD]), 1);
        unsigned place =
            raise_line(lru_wide_set(side->banks, &depth, size, one), ways, size,
                       (const lane *)(const void *)from, &kept_level[kind], &write_backs, &first);
        queue.found[kind][place + first * WIDE_FIRST]++;
        *to = one;
        to += first ^ 1;
    }
    uint32_t rotated[LRU_WIDE_WAYS];
    _mm512_storeu_si512(rotated, write_backs);
    for (unsigned i = 0; i < LRU_WIDE_WAYS; i++)
        queue.write_backs[i] = rotated[(i + 1) % LRU_WIDE_WAYS];
    lru_wide_add(counts, &queue, ways);
    return (unsigned)(to - waiting);
}

bool lru_masked_can_work(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

ON_AVX512 unsigned lru_masked_work(struct stacks_side *side, const struct stack_depth *depth,
                                   struct depth_counts *counts, unsigned count)
{
    const bool prefetching = lru_wide_bytes(depth) > NEAR_BYTES;
    const unsigned all = LRU_WIDE_WAYS;
    if (depth->wide_set < all)
        return prefetching ? work(side, depth, counts, count, all / 2, depth->ways, true)
                           : work(side, depth, counts, count, all / 2, depth->ways, false);
    if (depth->ways < all)
        return work(side, depth, counts, count, all, depth->ways, prefetching);
    return prefetching ? work(side, depth, counts, count, all, all, true)
                       : work(side, depth, counts, count, all, all, false);
}
#else
bool lru_masked_can_work(void)
{
    return false;
}

unsigned lru_masked_work(struct stacks_side *side, const struct stack_depth *depth,
                         struct depth_counts *counts, unsigned count)
{
    (void)side;
    (void)depth;
    (void)counts;
    return count; /* no depth has this form */
}
#endif
