#include "tools/cache/model/line_bits.h"

#include <stdlib.h>

#define PAGE_BITS  15u /* bits of a page: 4 KiB */
#define PAGE_WORDS ((1u << PAGE_BITS) / 64)

int line_bits_make(struct line_bits *bits, unsigned shift)
{
    bits->page_count = shift + PAGE_BITS < 32 ? (size_t)1 << (32 - shift - PAGE_BITS) : 1;
    bits->pages = calloc(bits->page_count, sizeof *bits->pages);
    return bits->pages ? 0 : -1;
}

void line_bits_clear(struct line_bits *bits)
{
    for (size_t i = 0; bits->pages && i < bits->page_count; i++)
        free(bits->pages[i]);
    free(bits->pages);
    *bits = (struct line_bits){.page_count = 0};
}

static uint64_t *word_of(uint64_t *page, uint32_t number)
{
    return &page[number % (1u << PAGE_BITS) / 64];
}

bool line_bits_get(const struct line_bits *bits, uint32_t number)
{
    uint64_t *page = bits->pages[number >> PAGE_BITS];
    return page && (*word_of(page, number) >> (number % 64) & 1);
}

int line_bits_set(struct line_bits *bits, uint32_t number)
{
    uint64_t **page = &bits->pages[number >> PAGE_BITS];
    if (!*page)
        *page = calloc(PAGE_WORDS, sizeof **page);
    if (!*page)
        return -1;
    uint64_t *word = word_of(*page, number);
    const int before = *word >> (number % 64) & 1;
    *word |= 1ull << (number % 64);
    return before;
}

void line_bits_reset(struct line_bits *bits, uint32_t number)
{
    uint64_t *page = bits->pages[number >> PAGE_BITS];
    if (page)
        *word_of(page, number) &= ~(1ull << (number % 64));
}

bool line_bits_next(const struct line_bits *bits, uint64_t *number)
{
    while (*number >> PAGE_BITS < bits->page_count) {
        uint64_t *page = bits->pages[*number >> PAGE_BITS];
        const uint64_t rest = page ? *word_of(page, (uint32_t)*number) >> (*number % 64) : 0;
        if (rest) {
            *number += (unsigned)__builtin_ctzll(rest);
            return true;
        }
        *number = page ? (*number / 64 + 1) * 64 : ((*number >> PAGE_BITS) + 1) << PAGE_BITS;
    }
    return false;
}
