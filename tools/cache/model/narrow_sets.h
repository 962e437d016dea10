/*
 * Sets of lines in 32 bits each, in the order of replacement, the next victim last: what LRU caches
 * of whole lines of NARROW_LINE_MIN bytes or more need. The bits of a line's address below the line
 * are its flags. Several ways are compared and moved at once, without branches.
 */
#ifndef TOOLS_CACHE_MODEL_NARROW_SETS_H
#define TOOLS_CACHE_MODEL_NARROW_SETS_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NARROW_LINE_MIN 32u
#define NARROW_FLAGS    31u
#define NARROW_VALID    1u
#define NARROW_TAG      (~NARROW_FLAGS | NARROW_VALID)
#define NARROW_WAYS_MAX 64u

/* For functions with variants for newer processors. */
#define NARROW_INLINE static inline __attribute__((always_inline))

#ifdef __SSE2__
NARROW_INLINE __m128i narrow_same(const uint32_t *words, __m128i tag, __m128i line)
{
    const __m128i four = _mm_loadu_si128((const __m128i *)(const void *)words);
    return _mm_cmpeq_epi32(_mm_and_si128(four, tag), line);
}
#endif

/* The words, 64 at most, that hold the line wanted: a bit for each, the first one lowest. wanted:
 * address of the line, with NARROW_VALID. */
NARROW_INLINE uint64_t narrow_match(const uint32_t *words, uint32_t count, uint32_t wanted)
{
    uint64_t found = 0;
    uint32_t i = 0;
#ifdef __SSE2__
    const __m128i tag = _mm_set1_epi32((int)NARROW_TAG);
    const __m128i line = _mm_set1_epi32((int)wanted);
    for (; i + 16 <= count; i += 16) {
        const __m128i low = _mm_packs_epi32(narrow_same(words + i, tag, line),
                                            narrow_same(words + i + 4, tag, line));
        const __m128i high = _mm_packs_epi32(narrow_same(words + i + 8, tag, line),
                                             narrow_same(words + i + 12, tag, line));
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
    }
    if (i + 8 <= count) {
        const __m128i low = narrow_same(words + i, tag, line);
        const __m128i high = narrow_same(words + i + 4, tag, line);
        const __m128i both = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(both) << i;
        i += 8;
    }
    if (i + 4 <= count) {
        const __m128i four = narrow_same(words + i, tag, line);
        found |= (uint64_t)(unsigned)_mm_movemask_ps(_mm_castsi128_ps(four)) << i;
        i += 4;
    }
#endif
    for (; i < count; i++)
        found |= (uint64_t)((words[i] & NARROW_TAG) == wanted) << i;
    return found;
}

/* Moves the ways before `way` down by one, over it, and puts head into the first. */
NARROW_INLINE void narrow_raise(uint32_t *set, uint32_t ways, uint32_t way, uint32_t head)
{
#ifdef __SSE2__
    /* from NARROW_WAYS_MAX + 1 - way on: zeros for the ways up to `way`, then ones */
    static const uint32_t kept[2 * NARROW_WAYS_MAX + 4] = {
#define FOUR    ~0u, ~0u, ~0u, ~0u
#define SIXTEEN FOUR, FOUR, FOUR, FOUR
        [NARROW_WAYS_MAX] = SIXTEEN, SIXTEEN, SIXTEEN, SIXTEEN, FOUR
#undef SIXTEEN
#undef FOUR
    };
    const uint32_t *keep = kept + NARROW_WAYS_MAX - 1 - way;
    for (uint32_t i = 0; ways % 4 == 0 && i < ways; i += 4) {
        __m128i *place = (__m128i *)(void *)(set + i);
        const __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)(keep + i));
        const __m128i four = _mm_loadu_si128(place);
        const __m128i moved = _mm_or_si128(_mm_slli_si128(four, 4), _mm_cvtsi32_si128((int)head));
        head = set[i + 3];
        _mm_storeu_si128(place,
                         _mm_or_si128(_mm_and_si128(mask, four), _mm_andnot_si128(mask, moved)));
    }
    if (ways % 4 == 0)
        return;
#endif
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = head;
}

/* Removes a way; those after it move up. */
static inline void narrow_remove(uint32_t *set, uint32_t ways, uint32_t way)
{
    for (; way + 1 < ways; way++)
        set[way] = set[way + 1];
    set[ways - 1] = 0;
}

#endif
