#include "tools/cache/model/lru_stacks_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define HALF_ENTRIES 8u

void lru_wide_choose(struct stack_depth *depth, enum lru_form fastest)
{
#if defined(__x86_64__)
    if (fastest == LRU_GENERAL || depth->sets == 1 || depth->ways > LRU_WIDE_WAYS ||
        1u << depth->shift < LRU_WIDE_LINE || !__builtin_cpu_supports("avx2") ||
        !__builtin_cpu_supports("bmi"))
        return;
    depth->wide_set = depth->ways <= HALF_ENTRIES ? HALF_ENTRIES : LRU_WIDE_WAYS;
    depth->masked = fastest == LRU_MASKED && lru_masked_can_work();
#else
    (void)depth;
    (void)fastest;
#endif
}

size_t lru_wide_bytes(const struct stack_depth *depth)
{
    return (size_t)depth->sets * depth->wide_set * sizeof(uint32_t);
}

/* There is no empty entry: a set that was not used has entries of a line that belongs to another
 * set, and clean. That is line 0, but for set 0. */
void lru_wide_clear(const struct stack_depth *depth, uint8_t *bank)
{
    uint32_t *set = (uint32_t *)(void *)(bank + depth->offset);
    for (unsigned i = 0; i < depth->wide_set; i++)
        set[i] = 1u << depth->shift;
}

uint64_t lru_wide_dirty(const struct stack_depth *depth, const uint8_t *bank, uint32_t ways)
{
    const uint32_t *entries = (const uint32_t *)(const void *)(bank + depth->offset);
    uint64_t dirty = 0;
    for (size_t set = 0; set < depth->sets; set++)
        for (size_t i = 0; i < depth->ways; i++) {
            uint32_t level = entries[set * depth->wide_set + i] & WIDE_LEVEL;
            dirty += level != 0 && level <= ways;
        }
    return dirty;
}

void lru_wide_add(struct depth_counts *counts, const struct wide_counts *queue, unsigned ways)
{
    for (unsigned kind = 0; kind < STACKS_KINDS; kind++) {
        for (unsigned i = 0; i <= ways; i++)
            counts->found[kind][i] += queue->found[kind][i];
        counts->found[kind][FOUND_FIRST] += queue->found[kind][WIDE_FIRST];
    }
    for (unsigned i = 0; i < ways; i++)
        counts->write_backs[i + 1] += queue->write_backs[i];
}

#if defined(__x86_64__)
#define ON_AVX2 __attribute__((target("avx2,bmi")))

/* Half of a set, and of the write-backs by ways. */
struct half {
    __m256i depths; /* of its entries */
    __m256i write_backs;
};

ON_AVX2 static inline struct half half_of(int first)
{
    return (struct half){.depths = _mm256_add_epi32(_mm256_set1_epi32(first),
                                                    _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
                         .write_backs = _mm256_setzero_si256()};
}

ON_AVX2 static inline unsigned matches(__m256i entries, __m256i tag)
{
    const __m256i lines = _mm256_andnot_si256(_mm256_set1_epi32(WIDE_LEVEL), entries);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(lines, tag)));
}

/*
 * The entries above the found one, for the move down by one: a dirty line was kept by caches with
 * more ways than its depth; now one more way is needed, and the cache with just as many writes it
 * back.
 */
ON_AVX2 static inline __m256i leave(struct half *half, __m256i entries, __m256i found)
{
    const __m256i levels = _mm256_and_si256(entries, _mm256_set1_epi32(WIDE_LEVEL));
    const __m256i least = _mm256_add_epi32(half->depths, _mm256_set1_epi32(1));
    const __m256i leaves = _mm256_and_si256(_mm256_cmpeq_epi32(levels, least),
                                            _mm256_cmpgt_epi32(found, half->depths));
    half->write_backs = _mm256_sub_epi32(half->write_backs, leaves);
    return _mm256_sub_epi32(entries, leaves);
}

/* Rotated down by one entry: the last becomes the first. */
ON_AVX2 static inline __m256i rotate(__m256i entries)
{
    return _mm256_permutevar8x32_epi32(entries, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
}

/* The entries after the move of those down to the found one. */
ON_AVX2 static inline __m256i move(const struct half *half, __m256i entries, __m256i moved,
                                   __m256i found)
{
    return _mm256_blendv_epi8(moved, entries, _mm256_cmpgt_epi32(half->depths, found));
}

/* Moves a line to the top of its set. Returns its former depth or, if it was absent, `ways`; *first
 * becomes 1 if nothing changed, else 0. */
ON_AVX2 static inline __attribute__((always_inline)) unsigned
raise_line(uint32_t *set, unsigned ways, unsigned halves, struct half half[2], uint32_t address,
           unsigned *first)
{
    const uint32_t tag = address & ~WIDE_LEVEL;
    const uint32_t write = address & 1;
    const __m256i tags = _mm256_set1_epi32((int)tag);
    __m256i *const in_memory = (__m256i *)(void *)set;
    const __m256i upper = _mm256_load_si256(in_memory);
    const __m256i lower = halves == 2 ? _mm256_load_si256(in_memory + 1) : upper;
    unsigned matching = 1u << ways | matches(upper, tags);
    if (halves == 2)
        matching |= matches(lower, tags) << HALF_ENTRIES;
    const unsigned depth = (unsigned)__builtin_ctz(matching);
    const __m256i found = _mm256_set1_epi32((int)depth);
    const uint32_t before = set[depth % (halves * HALF_ENTRIES)];
    /* without branches, which would be mispredicted */
    const uint32_t kept = (0u - (depth < ways)) & (write - 1) & WIDE_LEVEL;
    const uint32_t raised = tag | write | (before & kept);
    const __m256i upper_rotated = rotate(leave(&half[0], upper, found));
    const __m256i top = _mm256_castsi128_si256(_mm_cvtsi32_si128((int)raised));
    *first = (depth == 0) & (raised == before);
    _mm256_store_si256(in_memory,
                       move(&half[0], upper, _mm256_blend_epi32(upper_rotated, top, 1), found));
    if (halves == 2)
        _mm256_store_si256(
            in_memory + 1,
            move(&half[1], lower,
                 _mm256_blend_epi32(rotate(leave(&half[1], lower, found)), upper_rotated, 1),
                 found));
    return depth;
}

ON_AVX2 static inline __attribute__((always_inline)) unsigned
work(struct stacks_side *side, const struct stack_depth *of, struct depth_counts *counts,
     unsigned count, unsigned halves, bool prefetching)
{
    const struct stack_depth depth = *of;
    struct wide_counts queue = {.write_backs = {0}};
    struct half half[2] = {half_of(0), half_of(HALF_ENTRIES)};
    uint64_t *waiting = side->waiting;
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t one = waiting[i];
        unsigned first;
        if (prefetching)
            __builtin_prefetch(
                lru_wide_set(side->banks, &depth, halves * HALF_ENTRIES, waiting[i + AHEAD]), 1);
        unsigned place = raise_line(lru_wide_set(side->banks, &depth, halves * HALF_ENTRIES, one),
                                    depth.ways, halves, half, (uint32_t)one, &first);
        queue.found[waiting_kind(one)][place + first * WIDE_FIRST]++;
        waiting[kept] = one;
        kept += first ^ 1;
    }
    for (unsigned i = 0; i < 2; i++)
        _mm256_storeu_si256((__m256i *)(void *)(queue.write_backs + i * HALF_ENTRIES),
                            half[i].write_backs);
    lru_wide_add(counts, &queue, depth.ways);
    return kept;
}

ON_AVX2 unsigned lru_wide_work(struct stacks_side *side, const struct stack_depth *depth,
                               struct depth_counts *counts, unsigned count)
{
    const bool prefetching = lru_wide_bytes(depth) > NEAR_BYTES;
    if (depth->wide_set == HALF_ENTRIES)
        return prefetching ? work(side, depth, counts, count, 1, true)
                           : work(side, depth, counts, count, 1, false);
    return prefetching ? work(side, depth, counts, count, 2, true)
                       : work(side, depth, counts, count, 2, false);
}
#else
unsigned lru_wide_work(struct stacks_side *side, const struct stack_depth *depth,
                       struct depth_counts *counts, unsigned count)
{
    (void)side;
    (void)depth;
    (void)counts;
    return count; /* no depth has the wide form */
}
#endif
