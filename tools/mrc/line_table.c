#include "tools/mrc/line_table.h"

#include "formats/base/clock.h"
#include "formats/base/grow.h"
#include "tools/common/large_memory.h"

#include <stdbool.h>

#define CAPACITY_MIN 16u

/* Entries in transit from the old table to the new one. */
struct moving {
    uint64_t *entries;
    size_t count, capacity;
};

static size_t limit_of(size_t capacity)
{
    return capacity - capacity * 2 / 5;
}

static int no_memory(struct bt_error *error, size_t capacity)
{
    return bt_fail(error, BT_MEMORY, "no memory for a table of %zu lines", limit_of(capacity));
}

int line_table_init(struct line_table *map, struct bt_error *error)
{
    const int64_t now = clock_monotonic_ns();
    *map = (struct line_table){.capacity = CAPACITY_MIN, .limit = limit_of(CAPACITY_MIN)};
    map->seed = (uint32_t)(now ^ now >> 32);
    map->entries = large_memory_grow(NULL, 0, CAPACITY_MIN * sizeof *map->entries);
    return map->entries ? 0 : no_memory(error, CAPACITY_MIN);
}

void line_table_free(struct line_table *map)
{
    large_memory_free(map->entries, line_table_bytes(map));
    map->entries = NULL;
}

size_t line_table_bytes(const struct line_table *map)
{
    return map->capacity * sizeof *map->entries;
}

static int keep(struct moving *moving, uint64_t entry)
{
    void *grown =
        grow_array(moving->entries, &moving->capacity, moving->count + 1, sizeof *moving->entries);
    if (!grown)
        return -1;
    moving->entries = grown;
    moving->entries[moving->count++] = entry;
    return 0;
}

/* Moves the entries first to last - 1 out of the table. */
static int take(struct line_table *map, struct moving *moving, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        if (keep(moving, map->entries[i]) < 0)
            return -1;
        map->entries[i] = 0;
    }
    return 0;
}

/* Inserts an entry. Returns false if its slot would be past the end of the table. */
static bool put(struct line_table *map, uint64_t entry)
{
    size_t place = line_table_home(map, (uint32_t)(entry >> 32));
    while (place < map->capacity && map->entries[place] != 0)
        place++;
    if (place == map->capacity)
        return false;
    map->entries[place] = entry;
    return true;
}

/* Inserts an entry that wraps around: from the start of the table. */
static void put_around(struct line_table *map, uint64_t entry)
{
    if (put(map, entry))
        return;
    size_t place = 0;
    while (map->entries[place] != 0)
        place++;
    map->entries[place] = entry;
}

/*
 * Moves the runs of entries from the first old_capacity slots, the last run first: a run never
 * moves backwards, so that it meets only entries that have moved already. Entries that wrap around
 * the end, before or after, are kept in `around`.
 */
static int move_runs(struct line_table *map, size_t old_capacity, struct moving *around,
                     struct moving *run)
{
    size_t first = 0;
    while (first < old_capacity && map->entries[first] != 0)
        first++;
    if (take(map, around, 0, first) < 0)
        return -1;
    for (size_t end = old_capacity; end > first; end--) {
        size_t start = end;
        while (start > first && map->entries[start - 1] != 0)
            start--;
        run->count = 0;
        if (take(map, run, start, end) < 0)
            return -1;
        for (size_t i = 0; i < run->count; i++)
            if (!put(map, run->entries[i]) && keep(around, run->entries[i]) < 0)
                return -1;
        end = start > first ? start : first + 1;
    }
    return 0;
}

static int enlarge(struct line_table *map, size_t capacity, struct bt_error *error)
{
    struct moving around = {.entries = NULL, .count = 0, .capacity = 0};
    struct moving run = {.entries = NULL, .count = 0, .capacity = 0};
    uint64_t *entries =
        large_memory_grow(map->entries, line_table_bytes(map), capacity * sizeof *entries);
    if (!entries)
        return no_memory(error, capacity);
    const size_t old_capacity = map->capacity;
    map->entries = entries;
    map->capacity = capacity;
    map->limit = limit_of(capacity);
    int result = move_runs(map, old_capacity, &around, &run);
    for (size_t i = 0; result == 0 && i < around.count; i++)
        put_around(map, around.entries[i]);
    free(around.entries);
    free(run.entries);
    return result == 0 ? 0 : no_memory(error, capacity);
}

int line_table_grow(struct line_table *map, size_t more, struct bt_error *error)
{
    size_t capacity = map->capacity;
    while (limit_of(capacity) - map->used < more)
        capacity =
            (capacity + capacity / 4 + LINE_TABLE_GROUP - 1) & ~(size_t)(LINE_TABLE_GROUP - 1);
    return enlarge(map, capacity, error);
}
