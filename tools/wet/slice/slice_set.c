#include "tools/wet/slice/slice_set.h"

#include "formats/base/grow.h"

void slice_set_init(struct slice_set *set)
{
    *set = (struct slice_set){.free = SLICE_PAGE_NONE};
}

void slice_set_clear(struct slice_set *set)
{
    hash_index_clear(&set->index);
    free(set->pages);
    slice_set_init(set);
}

uint32_t slice_set_find(const struct slice_set *set, uint32_t id, uint64_t number)
{
    struct hash_search search = hash_search(&set->index, hash_pair(id, number));
    while (hash_search_next(&search))
        if (set->pages[search.number].id == id && set->pages[search.number].number == number)
            return search.number;
    return SLICE_PAGE_NONE;
}

/* The index of an unused page. SLICE_PAGE_NONE: no memory. */
static uint32_t take_page(struct slice_set *set)
{
    const uint32_t free_page = set->free;
    if (free_page != SLICE_PAGE_NONE) {
        set->free = set->pages[free_page].next;
        return free_page;
    }
    struct slice_page *larger =
        grow_array(set->pages, &set->capacity, set->count + 1, sizeof *larger);
    if (!larger || set->count >= HASH_INDEX_NUMBER_MAX)
        return SLICE_PAGE_NONE;
    set->pages = larger;
    return (uint32_t)set->count++;
}

uint32_t slice_set_insert(struct slice_set *set, uint32_t id, uint64_t number)
{
    if (hash_index_reserve(&set->index, 1) < 0)
        return SLICE_PAGE_NONE;
    const uint32_t page = take_page(set);
    if (page == SLICE_PAGE_NONE)
        return SLICE_PAGE_NONE;
    set->pages[page] = (struct slice_page){.id = id, .number = number};
    hash_index_add(&set->index, hash_pair(id, number), page);
    return page;
}

void slice_set_remove(struct slice_set *set, uint32_t page)
{
    struct slice_page *removed = &set->pages[page];
    hash_index_remove(&set->index, hash_pair(removed->id, removed->number), page);
    removed->next = set->free;
    set->free = page;
}

int slice_set_add(struct slice_set *set, uint32_t id, uint64_t instance)
{
    uint32_t page = slice_set_find(set, id, instance >> SLICE_PAGE_BITS);
    if (page == SLICE_PAGE_NONE)
        page = slice_set_insert(set, id, instance >> SLICE_PAGE_BITS);
    if (page == SLICE_PAGE_NONE)
        return BT_MEMORY;
    return slice_page_set(&set->pages[page], instance);
}

bool slice_set_has(const struct slice_set *set, uint32_t id, uint64_t instance)
{
    const uint32_t page = slice_set_find(set, id, instance >> SLICE_PAGE_BITS);
    return page != SLICE_PAGE_NONE && slice_page_has(&set->pages[page], instance);
}
