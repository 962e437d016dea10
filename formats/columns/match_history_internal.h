/*
 * What the next record of a member is predicted from: the records before it, earlier occurrences of
 * the same history, and the recent pages. The functions are here because they are parts of the loop
 * of record_model.c, which is specialized for each method.
 */
#ifndef FORMATS_COLUMNS_MATCH_HISTORY_INTERNAL_H
#define FORMATS_COLUMNS_MATCH_HISTORY_INTERNAL_H

#include "formats/columns/record_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define HISTORY_INLINE static inline __attribute__((always_inline))

#define INDEX_BITS 16u /* of tables of what followed a history */
#define PAGE_BITS  12u
#define PAGES      32u /* the recent pages */
#define OFFSET     ((1u << PAGE_BITS) - 1)

/* A place in the past whose history equals the present one. */
struct follower {
    size_t at;       /* the record that followed there */
    unsigned length; /* equal records before it; 0: there is none */
};

/* Hashes of the last records; a shape is a kind and an offset in the page. */
struct history_hashes {
    uint32_t record, two, three; /* of the last one, two and three */
    uint32_t shape, shapes2, shapes4;
};

/* The last records; [0] is the last one. */
struct moment {
    struct history_hashes hashes;
    uint32_t record_before;  /* hashes.record of the record before the last one */
    uint32_t shapes2_before; /* and its hashes.shapes2 */
    uint8_t kind[8];         /* all but kind[0] only if methods mix */
    uint8_t token[4];
    uint32_t address[2], time[3];
    uint32_t kinds4, kinds6; /* hashes of so many kinds */
};

struct match_history {
    uint8_t *kinds, *ranks; /* of each record: its kind, and how recent its page was */
    const struct record *past;
    struct moment moment;
    struct follower match, moved;
    uint32_t matches[1u << INDEX_BITS], moves[1u << INDEX_BITS];
    /* Address after the last record and the kind; the kinds of one record share a cache line. */
    _Alignas(64) uint32_t followers[1u << INDEX_BITS];
    uint32_t page_addresses[1u << INDEX_BITS]; /* the last address on a page */
    uint32_t last[256], before[256];           /* addresses of each kind */
    uint32_t tokens[256];                      /* of each kind, the last in the low bits */
    _Alignas(16) uint32_t pages[PAGES];        /* recent ones, the last first */
    unsigned page_count;
};

/* Room for most records; false without memory. Free with match_history_free. */
bool match_history_init(struct match_history *history, size_t most);
void match_history_free(struct match_history *history);

/* Forgets everything; the records of the past will be in `past`. */
void match_history_clear(struct match_history *history, const struct record *past);

static inline uint32_t hash2(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)b << 32 | a) * UINT64_C(0x9e3779b97f4a7c15) >> 32) ^ a;
}

static inline uint32_t table_index(uint32_t hash)
{
    return hash * UINT32_C(0x85ebca6b) >> (32 - INDEX_BITS);
}

#define LENGTH_LOOK 16u /* records compared to find the length of a match */
#define LENGTH_MOST 255u
#define AT_MASK     (RECORD_MODEL_MOST - 1)

/* Whether records i and j have the same kind and the same bits of mask in their addresses. */
static inline bool same_past(const struct match_history *history, size_t i, size_t j, uint32_t mask)
{
    return ((history->past[i].address ^ history->past[j].address) & mask) == 0 &&
           history->kinds[i] == history->kinds[j];
}

/*
 * Moves a follower on to record i, whose history has this hash. The table holds the record that
 * followed a history before, and some bits of the hash, so that most other histories are recognized
 * without a look at the past.
 */
static inline void follow(const struct match_history *history, struct follower *follower,
                          uint32_t *table, uint32_t hash, size_t i, uint32_t mask, unsigned least)
{
    uint32_t *entry = &table[table_index(hash)];
    const uint32_t check = hash & ~AT_MASK;
    if (follower->length > 0 && same_past(history, follower->at, i - 1, mask)) {
        follower->at++;
        follower->length += follower->length < LENGTH_MOST;
    } else {
        const size_t at = *entry & AT_MASK;
        unsigned length = 0;
        while ((*entry & ~AT_MASK) == check && length < LENGTH_LOOK && length < at &&
               same_past(history, at - 1 - length, i - 1 - length, mask))
            length++;
        *follower = (struct follower){at, length < least ? 0 : length};
    }
    *entry = check | (uint32_t)i;
}

/* The rank of a page among the recent ones; PAGES if it is not one of them. */
static inline unsigned page_rank(const struct match_history *history, uint32_t page)
{
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi32((int)page);
    uint32_t equal = 0;
    for (unsigned i = 0; i < PAGES; i += 16) {
        const __m128i *at = (const __m128i *)(history->pages + i);
        const __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at), wanted),
                                            _mm_cmpeq_epi32(_mm_load_si128(at + 1), wanted));
        const __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at + 2), wanted),
                                             _mm_cmpeq_epi32(_mm_load_si128(at + 3), wanted));
        equal |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
    }
    return equal ? (unsigned)__builtin_ctz(equal) : PAGES;
#else
    unsigned rank = 0;
    while (rank < PAGES && history->pages[rank] != page)
        rank++;
    return rank;
#endif
}

/* Moves the pages before this rank one place back; the first one becomes `page`. */
static inline void shift_pages(struct match_history *history, uint32_t page, unsigned rank)
{
#ifdef __SSE2__
    const __m128i end = _mm_set1_epi32((int)rank);
    __m128i carried = _mm_set1_epi32((int)page);
    for (unsigned i = 0; i <= rank; i += 4) {
        __m128i *at = (__m128i *)(history->pages + i);
        const __m128i here = _mm_load_si128(at);
        const __m128i index = _mm_add_epi32(_mm_set1_epi32((int)i), _mm_set_epi32(3, 2, 1, 0));
        const __m128i stays = _mm_cmpgt_epi32(index, end);
        const __m128i moved = _mm_or_si128(_mm_slli_si128(here, 4), _mm_srli_si128(carried, 12));
        _mm_store_si128(at,
                        _mm_or_si128(_mm_and_si128(stays, here), _mm_andnot_si128(stays, moved)));
        carried = here;
    }
#else
    for (unsigned i = rank; i > 0; i--)
        history->pages[i] = history->pages[i - 1];
    history->pages[0] = page;
#endif
}

/* Makes a page the most recent one; returns the rank that it had. */
static inline unsigned touch_page(struct match_history *history, uint32_t page)
{
    if (history->pages[0] == page)
        return 0;
    const unsigned rank = page_rank(history, page);
    if (rank == PAGES && history->page_count < PAGES)
        history->page_count++;
    shift_pages(history, page, rank < PAGES ? rank : history->page_count - 1);
    return rank;
}

/* The hashes after a record, and a fetch into the cache of what they will be looked up in. */
HISTORY_INLINE struct history_hashes next_hashes(const struct match_history *history,
                                                 uint32_t address, unsigned kind)
{
    const struct moment *m = &history->moment;
    struct history_hashes next;
    next.record = hash2(address, kind);
    next.two = hash2(next.record, m->hashes.record);
    next.three = hash2(next.two, m->record_before);
    next.shape = hash2(address & OFFSET, kind);
    next.shapes2 = hash2(next.shape, m->hashes.shape);
    next.shapes4 = hash2(next.shapes2, m->shapes2_before);
    __builtin_prefetch(&history->followers[table_index(next.record)]);
    __builtin_prefetch(&history->matches[table_index(next.three)]);
    __builtin_prefetch(&history->moves[table_index(next.shapes4)]);
    return next;
}

/* Makes the moment after a record. mixing: also what only methods that mix look at. */
HISTORY_INLINE void advance(struct moment *m, bool mixing, const struct history_hashes *next,
                            const struct record *record, unsigned kind, unsigned token)
{
    m->record_before = m->hashes.record;
    m->shapes2_before = m->hashes.shapes2;
    m->hashes = *next;
    if (!mixing) {
        m->kind[0] = (uint8_t)kind;
        return;
    }
    for (unsigned i = 7; i > 0; i--)
        m->kind[i] = m->kind[i - 1];
    for (unsigned i = 3; i > 0; i--)
        m->token[i] = m->token[i - 1];
    m->kind[0] = (uint8_t)kind;
    m->token[0] = (uint8_t)token;
    m->address[1] = m->address[0];
    m->address[0] = record->address;
    m->time[2] = m->time[1];
    m->time[1] = m->time[0];
    m->time[0] = record->time;
    m->kinds4 = (uint32_t)m->kind[0] | (uint32_t)m->kind[1] << 8 | (uint32_t)m->kind[2] << 16 |
                (uint32_t)m->kind[3] << 24;
    m->kinds6 = hash2(m->kinds4, (uint32_t)m->kind[4] << 8 | m->kind[5]);
}

#endif
