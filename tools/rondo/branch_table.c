#include "tools/rondo/branch_table.h"

#include "formats/base/grow.h"

#include <string.h>

#define FIRST_PLACES 1024u

struct branch_table {
    uint8_t *counts; /* one behind the other, size bytes each; the first is of all others */
    size_t capacity; /* counts there is room for */
    size_t count;    /* the first one included */
    size_t size;
    uint32_t *places; /* of numbers of counts, by hashes of addresses; 0: free */
    size_t place_mask;
};

static struct branch_counts *at(const struct branch_table *table, size_t number)
{
    return (struct branch_counts *)(void *)(table->counts + number * table->size);
}

static bool make_room(struct branch_table *table)
{
    uint8_t *grown = grow_array(table->counts, &table->capacity, table->count + 1, table->size);
    if (!grown)
        return false;
    table->counts = grown;
    memset(at(table, table->count), 0, table->size);
    return true;
}

struct branch_table *branch_table_new(size_t predictors, struct bt_error *error)
{
    struct branch_table *table = calloc(1, sizeof *table);
    if (table) {
        table->size = sizeof(struct branch_counts) + predictors * sizeof(uint64_t);
        table->place_mask = FIRST_PLACES - 1;
        table->places = calloc(FIRST_PLACES, sizeof *table->places);
        if (table->places && make_room(table)) {
            table->count = 1;
            return table;
        }
    }
    branch_table_free(table);
    bt_fail(error, BT_MEMORY, "no memory to count branches");
    return NULL;
}

void branch_table_free(struct branch_table *table)
{
    if (!table)
        return;
    free(table->counts);
    free(table->places);
    free(table);
}

/* The place where a branch is, or would be. */
static uint32_t *find(const struct branch_table *table, uint64_t address)
{
    size_t place = (size_t)(address * 0x9e3779b97f4a7c15u >> 32);
    for (;; place++) {
        uint32_t *number = &table->places[place & table->place_mask];
        if (*number == 0 || at(table, *number)->address == address)
            return number;
    }
}

/* Twice the places, so that half of them are free. */
static bool spread(struct branch_table *table)
{
    const size_t places = 2 * (table->place_mask + 1);
    uint32_t *grown = calloc(places, sizeof *grown);
    if (!grown)
        return false;
    free(table->places);
    table->places = grown;
    table->place_mask = places - 1;
    for (size_t number = 1; number < table->count; number++)
        *find(table, at(table, number)->address) = (uint32_t)number;
    return true;
}

struct branch_counts *branch_table_at(struct branch_table *table, const struct branch *branch)
{
    uint32_t *place = find(table, branch->address);
    if (*place != 0)
        return at(table, *place);
    if (table->count > BRANCH_TABLE_MAX || !make_room(table) ||
        (2 * table->count > table->place_mask && !spread(table)))
        return at(table, 0);
    struct branch_counts *counts = at(table, table->count);
    counts->address = branch->address;
    counts->kind = branch->kind;
    *find(table, branch->address) = (uint32_t)table->count++;
    return counts;
}

size_t branch_table_count(const struct branch_table *table)
{
    return table->count - 1;
}

const struct branch_counts *branch_table_get(const struct branch_table *table, size_t number)
{
    return at(table, number + 1);
}

const struct branch_counts *branch_table_others(const struct branch_table *table)
{
    return at(table, 0);
}
