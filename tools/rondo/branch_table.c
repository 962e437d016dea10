#include "tools/rondo/branch_table.h"

#include "formats/base/grow.h"

#include <string.h>

#define FIRST_SLOTS 1024u

struct branch_table {
    uint8_t *counts; /* elements of `size` bytes; element 0 is for all other branches */
    size_t capacity; /* allocated elements */
    size_t count;    /* includes element 0 */
    size_t size;
    uint32_t *slots; /* hash table of element numbers, by address; 0: free */
    size_t slot_mask;
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
        table->slot_mask = FIRST_SLOTS - 1;
        table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
        if (table->slots && make_room(table)) {
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
    free(table->slots);
    free(table);
}

/* The slot of a branch, or the free slot where it would be inserted. */
static uint32_t *find(const struct branch_table *table, uint64_t address)
{
    size_t slot = (size_t)(address * 0x9e3779b97f4a7c15u >> 32);
    for (;; slot++) {
        uint32_t *number = &table->slots[slot & table->slot_mask];
        if (*number == 0 || at(table, *number)->address == address)
            return number;
    }
}

/* Doubles the table, so that at least half of it is free. */
static bool spread(struct branch_table *table)
{
    const size_t slots = 2 * (table->slot_mask + 1);
    uint32_t *grown = calloc(slots, sizeof *grown);
    if (!grown)
        return false;
    free(table->slots);
    table->slots = grown;
    table->slot_mask = slots - 1;
    for (size_t number = 1; number < table->count; number++)
        *find(table, at(table, number)->address) = (uint32_t)number;
    return true;
}

struct branch_counts *branch_table_at(struct branch_table *table, const struct branch *branch)
{
    uint32_t *slot = find(table, branch->address);
    if (*slot != 0)
        return at(table, *slot);
    if (table->count > BRANCH_TABLE_MAX || !make_room(table) ||
        (2 * table->count > table->slot_mask && !spread(table)))
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
