/*
 * The processes that work on one study together: those that mpirun has started, where bustap is
 * built with MPI (make MPI=1), else one alone. Each works on its part; process 0 prints.
 */
#ifndef TOOLS_COMMON_CLUSTER_H
#define TOOLS_COMMON_CLUSTER_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct cluster;

/*
 * Joins the other processes; call it once. 0, BT_MEMORY, or BT_USAGE if mpirun has started several
 * but this program is built without MPI.
 */
int cluster_join(struct cluster **cluster, struct bt_error *error);

/*
 * Leaves the cluster. status is this process's exit status: 2 or more ends all other processes,
 * too. NULL is allowed.
 */
void cluster_leave(struct cluster *cluster, int status);

int cluster_rank(const struct cluster *cluster); /* 0 to cluster_size - 1; of NULL 0 */
int cluster_size(const struct cluster *cluster); /* 1: alone, as NULL is */

/* The index of the first of `count` items that process `rank` works on, if they are divided evenly.
 */
static inline uint64_t cluster_share(uint64_t count, int rank, int size)
{
    return count / (uint64_t)size * (uint64_t)rank +
           count % (uint64_t)size * (uint64_t)rank / (uint64_t)size;
}

/* Sends bytes to another process, which takes them with cluster_receive. 0 or BT_IO. */
int cluster_send(struct cluster *cluster, int to, const void *bytes, size_t size,
                 struct bt_error *error);

/* What another process sent: *bytes is allocated (NULL where *size is 0), the caller frees it. 0,
 * BT_IO or BT_MEMORY. */
int cluster_receive(struct cluster *cluster, int from, void **bytes, size_t *size,
                    struct bt_error *error);

/* Process 0's values become the sums over all processes; the others' stay. 0 or BT_IO. */
int cluster_sum(struct cluster *cluster, uint64_t *values, size_t count, struct bt_error *error);

/* The largest of all processes' statuses, for each of them. */
int cluster_status(struct cluster *cluster, int status);

#endif
