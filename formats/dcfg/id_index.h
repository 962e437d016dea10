/*
 * Finds items by their ids: 31-bit numbers in any order (DCFG 1.00 section 1.2.3). Takes no memory
 * for consecutive ids, four to sixteen bytes an item for dense ones, four otherwise; fast for all
 * ids.
 */
#ifndef FORMATS_DCFG_ID_INDEX_H
#define FORMATS_DCFG_ID_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define ID_INDEX_NONE UINT32_MAX

struct id_index {
    const char *ids; /* the first item's id */
    size_t stride;
    uint32_t count;
    uint32_t first;       /* the first item's id, for consecutive ids */
    uint32_t direct_size; /* not 0: numbers[id] is the item; else numbers sorted by id */
    uint32_t *numbers;    /* NULL: the item with the id first + n is n */
};

/*
 * Builds it over count items (fewer than ID_INDEX_NONE), whose ids (uint32_t) are stride bytes
 * apart from ids on, and must stay valid. 0, or -1 without memory. Of items with the same id the
 * first is found, and *duplicate is the number of the first that repeats an earlier id,
 * ID_INDEX_NONE if none. Free with id_index_clear.
 */
int id_index_build(struct id_index *index, const uint32_t *ids, size_t stride, uint32_t count,
                   uint32_t *duplicate);
void id_index_clear(struct id_index *index);

/* The number of the item with that id, or ID_INDEX_NONE. */
uint32_t id_index_find(const struct id_index *index, uint32_t id);

/* Memory in use, in bytes. */
size_t id_index_bytes(const struct id_index *index);

#endif
