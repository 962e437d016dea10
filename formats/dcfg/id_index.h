/*
 * Finds things by their ids: 31-bit numbers in no order (DCFG 1.00 section 1.2.3). No
 * memory where they are in order without gaps, four to sixteen bytes a thing where they are dense,
 * four where they are not; never slow, whatever the ids.
 */
#ifndef FORMATS_DCFG_ID_INDEX_H
#define FORMATS_DCFG_ID_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define ID_INDEX_NONE UINT32_MAX

struct id_index {
    const char *ids; /* the first thing's id */
    size_t stride;
    uint32_t count;
    uint32_t first;       /* the first thing's id, where no numbers are needed */
    uint32_t direct_size; /* not 0: numbers[id] is the thing; else numbers sorted by id */
    uint32_t *numbers;    /* NULL: the thing with the id first + n is n */
};

/*
 * Builds it over count things (fewer than ID_INDEX_NONE), whose ids (uint32_t) stand stride bytes
 * from each other from ids on, and must stay there. 0, or -1 without memory. Of things with the
 * same id the first is found, and *duplicate is the number of the first that has an earlier one's
 * id, ID_INDEX_NONE if there is none. Free with id_index_clear.
 */
int id_index_build(struct id_index *index, const uint32_t *ids, size_t stride, uint32_t count,
                   uint32_t *duplicate);
void id_index_clear(struct id_index *index);

/* The number of the thing with that id, or ID_INDEX_NONE. */
uint32_t id_index_find(const struct id_index *index, uint32_t id);

/* Memory that it holds. */
size_t id_index_bytes(const struct id_index *index);

#endif
