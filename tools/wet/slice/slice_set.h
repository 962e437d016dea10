/*
 * Sets of instances of instructions: a bit for each instance, in pages that exist if one of their
 * instances is in the set.
 */
#ifndef TOOLS_WET_SLICE_SLICE_SET_H
#define TOOLS_WET_SLICE_SLICE_SET_H

#include "formats/base/hash_index.h"

#define SLICE_PAGE_BITS 9u
#define SLICE_PAGE      (1u << SLICE_PAGE_BITS) /* instances of a page */
#define SLICE_PAGE_NONE UINT32_MAX

struct slice_page {
    uint64_t number; /* of its instances, divided by SLICE_PAGE */
    uint32_t id;
    uint32_t next; /* of a free page: the next free one */
    uint64_t bits[SLICE_PAGE / 64];
};

/* Initialize with slice_set_init(). */
struct slice_set {
    struct hash_index index;
    struct slice_page *pages;
    size_t count, capacity;
    uint32_t free;
};

void slice_set_init(struct slice_set *set);
void slice_set_clear(struct slice_set *set);

/* The index of a page; SLICE_PAGE_NONE: it does not exist. */
uint32_t slice_set_find(const struct slice_set *set, uint32_t id, uint64_t number);

/* Adds a page without instances, which must not exist. Its index, or SLICE_PAGE_NONE: no memory. */
uint32_t slice_set_insert(struct slice_set *set, uint32_t id, uint64_t number);

/* Removes a page. */
void slice_set_remove(struct slice_set *set, uint32_t page);

/* Adds an instance. 1; 0: it was there; or BT_MEMORY. */
int slice_set_add(struct slice_set *set, uint32_t id, uint64_t instance);
bool slice_set_has(const struct slice_set *set, uint32_t id, uint64_t instance);

/* Sets a page's bit of an instance. Whether it was clear. */
static inline bool slice_page_set(struct slice_page *page, uint64_t instance)
{
    uint64_t *word = &page->bits[(instance & (SLICE_PAGE - 1)) / 64];
    const uint64_t bit = UINT64_C(1) << (instance & 63);
    const bool was_clear = !(*word & bit);
    *word |= bit;
    return was_clear;
}

static inline bool slice_page_has(const struct slice_page *page, uint64_t instance)
{
    return page->bits[(instance & (SLICE_PAGE - 1)) / 64] >> (instance & 63) & 1;
}

#endif
