#include "tools/rondo/branch_table.h"

#include "formats/base/grow.h"
#include "formats/base/hash_index.h"

#include <string.h>

struct branch_table {
    uint8_t *counts; /* elements of `size` bytes; element 0 is for all other branches */
    size_t capacity; /* allocated elements */
    size_t count;    /* includes element 0 */
    size_t size;
    struct hash_index by_address; /* without element 0 */
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
        if (make_room(table)) {
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
    hash_index_clear(&table->by_address);
    free(table);
}

struct branch_counts *branch_table_at(struct branch_table *table, const struct branch *branch)
{
    const uint32_t hash = hash_number(branch->address);
    struct hash_search search = hash_search(&table->by_address, hash);
    while (hash_search_next(&search))
        if (at(table, search.number)->address == branch->address)
            return at(table, search.number);
    if (table->count > BRANCH_TABLE_MAX || !make_room(table) ||
        hash_index_add(&table->by_address, hash, (uint32_t)table->count) != 0)
        return at(table, 0);
    struct branch_counts *counts = at(table, table->count++);
    counts->address = branch->address;
    counts->kind = branch->kind;
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
