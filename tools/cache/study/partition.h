/*
 * Simulates the parts of a hierarchy (hierarchy_new_part), a thread each. The calling thread
 * divides the records by the part of their sets, once, and hands them over in blocks; each thread
 * simulates its own records in their order while the caller divides the next ones.
 */
#ifndef TOOLS_CACHE_STUDY_PARTITION_H
#define TOOLS_CACHE_STUDY_PARTITION_H

#include "tools/cache/model/hierarchy.h"

struct partition;

/* parts: `count` consecutive parts of a hierarchy, of `all` parts, beginning with part `first`;
 * they must outlive the partition. 0 or BT_MEMORY. */
int partition_new(struct partition **partition, struct hierarchy *const *parts, unsigned first,
                  unsigned count, unsigned all, struct bt_error *error);

/* Divides records. 0, or the error of the simulation of earlier ones. */
int partition_put(struct partition *partition, const struct record *records, size_t count,
                  struct bt_error *error);

/* Waits until all records are simulated; then the parts may be read and changed until the next
 * partition_put. 0, or the error of their simulation. */
int partition_wait(struct partition *partition, struct bt_error *error);

/* partition may be NULL. */
void partition_free(struct partition *partition);

#endif
