#include "capture/exec/memory/space_table.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

void space_table_free(struct space_table *table)
{
    free(table->mappings);
    *table = (struct space_table){.mappings = NULL, .count = 0, .capacity = 0};
}

/* A call can split one mapping in two and add one. */
bool space_table_reserve(struct space_table *table, size_t calls)
{
    struct space_mapping *grown = grow_array(table->mappings, &table->capacity,
                                             table->count + 2 * calls, sizeof *table->mappings);
    if (grown)
        table->mappings = grown;
    return grown;
}

size_t space_table_search(const struct space_table *table, uint64_t address)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->mappings[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Replaces `removed` mappings, from index first, by the added ones. */
static void replace_at(struct space_table *table, size_t first, size_t removed,
                       const struct space_mapping *added, size_t added_count)
{
    struct space_mapping *place = table->mappings + first;
    memmove(place + added_count, place + removed, (table->count - first - removed) * sizeof *place);
    memcpy(place, added, added_count * sizeof *place);
    table->count += added_count;
    table->count -= removed;
}

static bool alike(const struct space_mapping *below, const struct space_mapping *above)
{
    return below->end == above->start && below->protection == above->protection &&
           below->flags == above->flags;
}

static void replace(struct space_table *table, uint64_t start, uint64_t end,
                    const struct space_mapping *mapping)
{
    struct space_mapping added[3];
    size_t count = 0;
    size_t first = space_table_search(table, start);
    size_t last = first; /* the first one after the range */
    while (last < table->count && table->mappings[last].start < end)
        last++;
    if (first < last && table->mappings[first].start < start) {
        added[count] = table->mappings[first];
        added[count++].end = start;
    } else if (mapping && first > 0 && alike(&table->mappings[first - 1], mapping)) {
        added[count++] = table->mappings[--first];
    }
    if (mapping) {
        if (count > 0 && alike(&added[0], mapping))
            added[0].end = end;
        else
            added[count++] = *mapping;
    }
    struct space_mapping rest = {.start = end, .end = end, .protection = 0, .flags = 0};
    if (first < last && table->mappings[last - 1].end > end) {
        rest = table->mappings[last - 1];
        rest.start = end;
    } else if (mapping && last < table->count && table->mappings[last].start == end) {
        rest = table->mappings[last++];
    }
    if (rest.end > rest.start) {
        if (mapping && alike(&added[count - 1], &rest))
            added[count - 1].end = rest.end;
        else
            added[count++] = rest;
    }
    replace_at(table, first, last - first, added, count);
}

void space_table_set(struct space_table *table, const struct space_mapping *mapping)
{
    if (mapping->start < mapping->end)
        replace(table, mapping->start, mapping->end, mapping);
}

void space_table_clear(struct space_table *table, uint64_t start, uint64_t end)
{
    if (start < end)
        replace(table, start, end, NULL);
}

bool space_table_next(const struct space_table *table, uint64_t *at, uint64_t end,
                      struct space_mapping *piece)
{
    size_t found = space_table_search(table, *at);
    if (*at >= end || found == table->count || table->mappings[found].start >= end)
        return false;
    *piece = table->mappings[found];
    if (piece->start < *at)
        piece->start = *at;
    if (piece->end > end)
        piece->end = end;
    *at = piece->end;
    return true;
}

bool space_table_next_hole(const struct space_table *table, uint64_t *at, uint64_t end,
                           struct space_mapping *hole)
{
    while (*at < end) {
        struct space_mapping piece = {.start = end, .end = end, .protection = 0, .flags = 0};
        uint64_t start = *at;
        if (!space_table_next(table, at, end, &piece))
            *at = end;
        *hole =
            (struct space_mapping){.start = start, .end = piece.start, .protection = 0, .flags = 0};
        if (hole->start < hole->end)
            return true;
    }
    return false;
}

bool space_table_overlaps(const struct space_table *table, uint64_t start, uint64_t end,
                          uint32_t flags)
{
    struct space_mapping piece;
    while (space_table_next(table, &start, end, &piece))
        if (flags == 0 || (piece.flags & flags) != 0)
            return true;
    return false;
}

uint64_t space_table_find_free(const struct space_table *table, uint64_t low, uint64_t high,
                               uint64_t size, uint64_t alignment)
{
    size_t below = space_table_search(table, high); /* mappings before it are below high */
    if (below < table->count && table->mappings[below].start < high)
        below++;
    uint64_t end = high;
    if (below < table->count && (table->mappings[below].flags & SPACE_GROWS) &&
        table->mappings[below].start < high + SPACE_GUARD)
        end = table->mappings[below].start - SPACE_GUARD;
    for (;;) {
        uint64_t start = below > 0 ? table->mappings[below - 1].end : 0;
        if (start < low)
            start = low;
        if (end >= size && ((end - size) & ~(alignment - 1)) >= start && end > start)
            return (end - size) & ~(alignment - 1);
        if (start == low)
            return 0;
        const struct space_mapping *next = &table->mappings[--below];
        uint64_t guard = next->flags & SPACE_GROWS ? SPACE_GUARD : 0;
        uint64_t edge = next->start > guard ? next->start - guard : 0;
        if (edge < end)
            end = edge;
    }
}
