/* What came of each branch of a program: executions, and mispredictions by each predictor. */
#ifndef TOOLS_RONDO_BRANCH_TABLE_H
#define TOOLS_RONDO_BRANCH_TABLE_H

#include "formats/base/error.h"
#include "tools/rondo/branch.h"

#include <stddef.h>

/* Branches that are counted one by one; all others together, so that memory stays bounded. */
#define BRANCH_TABLE_MAX (1u << 20)

struct branch_counts {
    uint64_t address;
    enum branch_kind kind;
    uint64_t executed, taken;
    uint64_t wrong[]; /* by each predictor */
};

struct branch_table;

/* NULL and *error without memory. */
struct branch_table *branch_table_new(size_t predictors, struct bt_error *error);
void branch_table_free(struct branch_table *table);

/*
 * The counts of a branch, valid until the next call; those of all others where there are too many
 * branches, or no memory is left for more.
 */
struct branch_counts *branch_table_at(struct branch_table *table, const struct branch *branch);

/* How many there are, and one of them, in the order of their first execution. */
size_t branch_table_count(const struct branch_table *table);
const struct branch_counts *branch_table_get(const struct branch_table *table, size_t number);

/* Those that were not counted one by one: their address is 0. */
const struct branch_counts *branch_table_others(const struct branch_table *table);

#endif
