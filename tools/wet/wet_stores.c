#include "tools/wet/wet_stores.h"

#include <string.h>

#define CAPACITY_MIN 4u

int wet_stores_init(struct wet_stores *stores, size_t ids, uint32_t limit)
{
    *stores = (struct wet_stores){.kept = calloc(limit, sizeof *stores->kept),
                                  .limit = limit,
                                  .of = calloc(ids, sizeof *stores->of),
                                  .ids = ids};
    return stores->kept && stores->of ? 0 : BT_MEMORY;
}

void wet_stores_clear(struct wet_stores *stores)
{
    for (size_t i = 0; stores->of && i < stores->ids; i++)
        free(stores->of[i].indices);
    free(stores->kept);
    free(stores->of);
    *stores = (struct wet_stores){.kept = NULL};
}

static int resize(struct wet_stores_of *of, uint32_t capacity)
{
    uint32_t *indices = malloc(capacity * sizeof *indices);
    if (!indices)
        return BT_MEMORY;
    for (uint32_t i = 0; i < of->count; i++)
        indices[i] = of->indices[(of->head + i) & (of->capacity - 1)];
    free(of->indices);
    of->indices = indices;
    of->capacity = capacity;
    of->head = 0;
    return 0;
}

/* Forgets the oldest one. Rings that have become small give memory back, so that their sum stays
 * within the limit. */
static int forget(struct wet_stores *stores)
{
    struct wet_stores_of *of = &stores->of[stores->kept[stores->next].id];
    of->head = (of->head + 1) & (of->capacity - 1);
    of->count--;
    of->first++;
    return of->capacity > CAPACITY_MIN && of->count < of->capacity / 4
               ? resize(of, of->capacity / 2)
               : 0;
}

int wet_stores_put(struct wet_stores *stores, uint64_t instance, const struct wet_store *store)
{
    struct wet_stores_of *of = &stores->of[store->id];
    if (stores->is_full && forget(stores) < 0)
        return BT_MEMORY;
    if (of->count == of->capacity && resize(of, of->capacity ? 2 * of->capacity : CAPACITY_MIN) < 0)
        return BT_MEMORY;
    if (of->count == 0)
        of->first = instance;
    of->indices[(of->head + of->count++) & (of->capacity - 1)] = stores->next;
    stores->kept[stores->next++] = *store;
    if (stores->next == stores->limit) {
        stores->next = 0;
        stores->is_full = true;
    }
    return 0;
}

const struct wet_store *wet_stores_get(const struct wet_stores *stores, uint32_t id,
                                       uint64_t instance)
{
    const struct wet_stores_of *of = &stores->of[id];
    if (instance < of->first || instance - of->first >= of->count)
        return NULL;
    return &stores->kept[of->indices[(of->head + (uint32_t)(instance - of->first)) &
                                     (of->capacity - 1)]];
}
