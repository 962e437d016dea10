/*
 * The processes that share the work of one study: those that mpirun has started if bustap is built
 * with MPI (make MPI=1), else a single one. Each processes its part; process 0 prints.
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

int cluster_rank(const struct cluster *cluster); /* 0 to cluster_size - 1; 0 for NULL */
int cluster_size(const struct cluster *cluster); /* number of processes; 1 for NULL */

/* Index of the first of `count` evenly divided items that process `rank` processes. */
static inline uint64_t cluster_share(uint64_t count, int rank, int size)
{
    return count / (uint64_t)size * (uint64_t)rank +
           count % (uint64_t)size * (uint64_t)rank / (uint64_t)size;
}

/* Sends bytes to another process, which calls cluster_receive. 0 or BT_IO. */
int cluster_send(struct cluster *cluster, int to, const void *bytes, size_t size,
                 struct bt_error *error);

/* Receives the bytes of another process's cluster_send. *bytes is NULL if *size is 0; the caller
 * frees it. 0, BT_IO or BT_MEMORY. */
int cluster_receive(struct cluster *cluster, int from, void **bytes, size_t *size,
                    struct bt_error *error);

/* Replaces process 0's values by the sums over all processes. 0 or BT_IO. */
int cluster_sum(struct cluster *cluster, uint64_t *values, size_t count, struct bt_error *error);

/* Returns the largest status of all processes. Every process calls it. */
int cluster_status(struct cluster *cluster, int status);

#endif
