#include "tools/cache/study/attribution.h"

#include "tools/cache/model/line_values.h"

#include <stdlib.h>

struct attribution {
    enum attribution_key key;
    struct line_values rows; /* values are struct attributed */
    struct attributed unknown;
    uint32_t fetched[CACHE_PROCESSORS]; /* address of the last fetch */
    bool fetches[CACHE_PROCESSORS];
};

struct attribution *attribution_new(enum attribution_key key, struct bt_error *error)
{
    struct attribution *attribution = calloc(1, sizeof *attribution);
    if (!attribution) {
        bt_fail(error, BT_MEMORY, "no memory to attribute misses");
        return NULL;
    }
    attribution->key = key;
    attribution->rows.value_bytes = sizeof(struct attributed);
    return attribution;
}

void attribution_free(struct attribution *attribution)
{
    if (!attribution)
        return;
    line_values_clear(&attribution->rows);
    free(attribution);
}

/* The row of a reference. NULL: out of memory. */
static struct attributed *row_of(struct attribution *attribution, const struct record *record)
{
    uint32_t address = record->address & ~(ATTRIBUTION_PAGE_BYTES - 1);
    if (attribution->key == ATTRIBUTE_INSTRUCTIONS) {
        if (!attribution->fetches[record->processor])
            return &attribution->unknown;
        address = attribution->fetched[record->processor];
    }
    struct attributed *row = line_values_add(&attribution->rows, address);
    if (row)
        row->address = address;
    return row;
}

int attribution_put(struct attribution *attribution, struct hierarchy *hierarchy,
                    const struct record *records, size_t count, struct bt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        const enum reference_kind kind = reference_kind_of(record->type);
        uint64_t before[CACHE_LEVELS], after[CACHE_LEVELS];
        if (kind == REFERENCE_FETCH) {
            attribution->fetched[record->processor] = record->address;
            attribution->fetches[record->processor] = true;
        }
        hierarchy_misses(hierarchy, record->processor, before);
        const int result = hierarchy_put(hierarchy, record, 1, error);
        if (result < 0)
            return result;
        if (kind == REFERENCE_NONE)
            continue;
        struct attributed *row = row_of(attribution, record);
        if (!row)
            return bt_fail(error, BT_MEMORY, "no memory for the misses of %zu places",
                           attribution->rows.count);
        hierarchy_misses(hierarchy, record->processor, after);
        row->references++;
        for (unsigned level = 0; level < CACHE_LEVELS; level++)
            row->misses[level] += after[level] - before[level];
    }
    return 0;
}

void attribution_reset(struct attribution *attribution)
{
    line_values_clear(&attribution->rows);
    attribution->unknown = (struct attributed){.address = 0};
}

const struct attributed *attribution_rows(const struct attribution *attribution, size_t *count)
{
    *count = attribution->rows.count;
    return (const void *)attribution->rows.values;
}

const struct attributed *attribution_unknown(const struct attribution *attribution)
{
    return &attribution->unknown;
}
