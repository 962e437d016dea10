#include "tools/plot/address_map.h"

#include "formats/base/saturating.h"
#include "formats/record/reference.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE (4 * ADDRESS_MAP_ROWS_MAX) /* a power of 2 */
#define NO_ROW     UINT16_MAX

struct address_map {
    struct address_map_settings settings;
    struct time_bins time;
    struct address_map_counts totals;
    unsigned shift;
    size_t row_count;
    struct address_map_row rows[ADDRESS_MAP_ROWS_MAX];
    uint64_t *counts[ADDRESS_MAP_ROWS_MAX]; /* memory of the rows' counts */
    uint16_t table[TABLE_SIZE];             /* hash table of rows by row number, open addressing */
};

struct address_map *address_map_new(const struct address_map_settings *settings,
                                    struct bt_error *error)
{
    struct address_map *map = calloc(1, sizeof *map);
    if (!map) {
        bt_fail(error, BT_MEMORY, "no memory for a map of addresses");
        return NULL;
    }
    map->settings = *settings;
    map->shift = ADDRESS_MAP_SHIFT_MIN;
    memset(map->table, 0xff, sizeof map->table);
    if (time_bins_begin(&map->time, settings->bins, error) < 0) {
        address_map_free(map);
        return NULL;
    }
    return map;
}

void address_map_free(struct address_map *map)
{
    if (!map)
        return;
    for (size_t i = 0; i < ADDRESS_MAP_ROWS_MAX; i++)
        free(map->counts[i]);
    time_bins_free(&map->time);
    free(map);
}

/* The slot of a row, or the slot where it would be inserted. Slots of two bytes stay in the L1
 * cache: a hash_index takes 11 % longer. */
static uint16_t *table_slot(struct address_map *map, uint32_t number)
{
    size_t at = (number * 0x9e3779b1u) >> 16;
    while (map->table[at %= TABLE_SIZE] != NO_ROW && map->rows[map->table[at]].number != number)
        at++;
    return &map->table[at];
}

static int compare_rows(const void *a, const void *b)
{
    const struct address_map_row *left = a;
    const struct address_map_row *right = b;
    return (left->number > right->number) - (left->number < right->number);
}

static void sort_rows(struct address_map *map)
{
    qsort(map->rows, map->row_count, sizeof map->rows[0], compare_rows);
    memset(map->table, 0xff, sizeof map->table);
    for (size_t i = 0; i < map->row_count; i++) {
        /* the same memory, writable */
        map->counts[i] = (uint64_t *)(uintptr_t)map->rows[i].counts;
        *table_slot(map, map->rows[i].number) = (uint16_t)i;
    }
}

static void add_counts(uint64_t *to, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = saturating_add(to[i], from[i]);
}

/* Doubles the height of all rows, and frees the memory of merged ones. */
static void raise_rows(struct address_map *map)
{
    size_t kept = 0;
    sort_rows(map);
    for (size_t i = 0; i < map->row_count; i++) {
        uint32_t number = map->rows[i].number >> 1;
        if (kept > 0 && map->rows[kept - 1].number == number) {
            add_counts(map->counts[kept - 1], map->counts[i], map->settings.bins);
            free(map->counts[i]);
        } else {
            map->counts[kept] = map->counts[i];
            map->rows[kept++] = (struct address_map_row){number, map->counts[i]};
        }
    }
    for (size_t i = kept; i < map->row_count; i++)
        map->counts[i] = NULL;
    map->row_count = kept;
    map->shift++;
    sort_rows(map);
}

/* The counts of an address's row; NULL without memory. */
static uint64_t *row_of(struct address_map *map, uint32_t address)
{
    uint16_t *slot = table_slot(map, address >> map->shift);
    if (*slot != NO_ROW)
        return map->counts[*slot];
    while (map->row_count == ADDRESS_MAP_ROWS_MAX) {
        raise_rows(map);
        slot = table_slot(map, address >> map->shift);
        if (*slot != NO_ROW)
            return map->counts[*slot];
    }
    size_t row = map->row_count;
    map->counts[row] = calloc(map->settings.bins, sizeof *map->counts[row]);
    if (!map->counts[row])
        return NULL;
    map->rows[row] = (struct address_map_row){address >> map->shift, map->counts[row]};
    map->row_count++;
    *slot = (uint16_t)row;
    return map->counts[row];
}

/* Whether a record belongs to the map; counts those that do not. */
static bool is_wanted(struct address_map *map, const struct record *record)
{
    const struct address_map_settings *settings = &map->settings;
    if (reference_kind_of(record->type) == REFERENCE_NONE)
        map->totals.dropped++;
    else if (record->address < settings->from || record->address > settings->to)
        map->totals.outside++;
    else
        return true;
    return false;
}

int address_map_put(struct address_map *map, const struct batch *batch,
                    const struct capture_info *info, struct bt_error *error)
{
    for (unsigned doubled = time_bins_take(&map->time, batch, info); doubled > 0; doubled--)
        for (size_t row = 0; row < map->row_count; row++)
            time_bins_merge(&map->time, map->counts[row]);
    uint64_t tick = batch->first_tick;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        tick = i > 0 ? time_bins_next(tick, record) : tick;
        if (!is_wanted(map, record))
            continue;
        uint64_t *counts = row_of(map, record->address);
        if (!counts)
            return bt_fail(error, BT_MEMORY, "no memory for a map of addresses");
        counts[time_bins_at(&map->time, tick)]++;
        map->totals.requests++;
    }
    return 0;
}

const struct address_map_row *address_map_rows(struct address_map *map, size_t *count)
{
    sort_rows(map);
    *count = map->row_count;
    return map->rows;
}

unsigned address_map_shift(const struct address_map *map)
{
    return map->shift;
}

const struct time_bins *address_map_time(const struct address_map *map)
{
    return &map->time;
}

const struct address_map_counts *address_map_totals(const struct address_map *map)
{
    return &map->totals;
}
