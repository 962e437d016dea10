/* Counts of each branch of a program: executions, and mispredictions of each predictor. */
#ifndef TOOLS_RONDO_BRANCH_TABLE_H
#define TOOLS_RONDO_BRANCH_TABLE_H

#include "formats/base/error.h"
#include "tools/rondo/branch.h"

#include <stddef.h>

/* Maximum number of branches with counts of their own. All others share one element, which bounds
 * the memory. */
#define BRANCH_TABLE_MAX (1u << 20)

struct branch_counts {
    uint64_t address;
    enum branch_kind kind;
    uint64_t executed, taken;
    uint64_t wrong[]; /* mispredictions of each predictor */
};

struct branch_table;

/* NULL and *error without memory. */
struct branch_table *branch_table_new(size_t predictors, struct bt_error *error);
void branch_table_free(struct branch_table *table);

/* The counts of a branch, valid until the next call. These are the shared counts if the table is
 * full or memory is exhausted. */
struct branch_counts *branch_table_at(struct branch_table *table, const struct branch *branch);

/* The number of branches, and one of them, in the order of first execution. */
size_t branch_table_count(const struct branch_table *table);
const struct branch_counts *branch_table_get(const struct branch_table *table, size_t number);

/* The counts shared by all other branches; their address is 0. */
const struct branch_counts *branch_table_others(const struct branch_table *table);

#endif
