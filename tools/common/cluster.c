#include "tools/common/cluster.h"

#include <stdbool.h>
#include <stdlib.h>

/* bustap without MPI: a single process. MPI=1 links cluster_mpi.c instead of this file. */
struct cluster {
    char nothing;
};

/* Whether the environment variables of Open MPI or PMI count several processes. */
static bool several_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && strtol(value, NULL, 10) > 1)
            return true;
    }
    return false;
}

int cluster_join(struct cluster **cluster, struct bt_error *error)
{
    if (several_launched())
        return bt_fail(error, BT_USAGE,
                       "mpirun has started several processes, but bustap is built without MPI: "
                       "build it with 'make MPI=1', or start one process");
    *cluster = malloc(sizeof **cluster);
    return *cluster ? 0 : bt_fail(error, BT_MEMORY, "no memory for a cluster");
}

void cluster_leave(struct cluster *cluster, int status)
{
    (void)status;
    free(cluster);
}

int cluster_rank(const struct cluster *cluster)
{
    (void)cluster;
    return 0;
}

int cluster_size(const struct cluster *cluster)
{
    (void)cluster;
    return 1;
}

int cluster_send(struct cluster *cluster, int to, const void *bytes, size_t size,
                 struct bt_error *error)
{
    (void)cluster, (void)bytes, (void)size;
    return bt_fail(error, BT_USAGE, "process %d does not exist", to);
}

int cluster_receive(struct cluster *cluster, int from, void **bytes, size_t *size,
                    struct bt_error *error)
{
    (void)cluster;
    *bytes = NULL;
    *size = 0;
    return bt_fail(error, BT_USAGE, "process %d does not exist", from);
}

int cluster_sum(struct cluster *cluster, uint64_t *values, size_t count, struct bt_error *error)
{
    (void)cluster, (void)values, (void)count, (void)error;
    return 0; /* the values of a single process are the sums */
}

int cluster_status(struct cluster *cluster, int status)
{
    (void)cluster;
    return status;
}
