/* The processes that mpirun has started. Linked instead of cluster.c where MPI=1. */
#include "tools/common/cluster.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct cluster {
    int rank, size;
};

int cluster_join(struct cluster **cluster, struct bt_error *error)
{
    struct cluster *joined = malloc(sizeof *joined);
    if (!joined)
        return bt_fail(error, BT_MEMORY, "no memory for a cluster");
    *joined = (struct cluster){.rank = 0, .size = 1};
    *cluster = joined;
    /* MPI_Init without a launcher is slow and may fail; a single process does not need it. */
    if (!getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMI_SIZE"))
        return 0;
    /* one thread of each process sends and receives */
    int provided;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
        free(joined);
        return bt_fail(error, BT_IO, "cannot join the processes that mpirun has started");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &joined->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &joined->size);
    return 0;
}

void cluster_leave(struct cluster *cluster, int status)
{
    int joined = 0;
    int finalized = 0;
    MPI_Initialized(&joined);
    MPI_Finalized(&finalized);
    if (joined && !finalized) {
        fflush(NULL);
        if (status >= 2)
            MPI_Abort(MPI_COMM_WORLD, status);
        MPI_Finalize();
    }
    free(cluster);
}

int cluster_rank(const struct cluster *cluster)
{
    return cluster ? cluster->rank : 0;
}

int cluster_size(const struct cluster *cluster)
{
    return cluster ? cluster->size : 1;
}

/* Long messages are split: MPI counts bytes with an int. */
#define PIECE_BYTES ((size_t)1 << 30)
#define TAG         1

static int failed(const char *what, int code, struct bt_error *error)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return bt_fail(error, BT_IO, "cannot %s the other processes: %.*s", what, length, text);
}

int cluster_send(struct cluster *cluster, int to, const void *bytes, size_t size,
                 struct bt_error *error)
{
    (void)cluster;
    uint64_t length = size;
    int code = MPI_Send(&length, 1, MPI_UINT64_T, to, TAG, MPI_COMM_WORLD);
    for (size_t done = 0; code == MPI_SUCCESS && done < size; done += PIECE_BYTES) {
        size_t piece = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;
        code = MPI_Send((const char *)bytes + done, (int)piece, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
    }
    return code == MPI_SUCCESS ? 0 : failed("write to", code, error);
}

int cluster_receive(struct cluster *cluster, int from, void **bytes, size_t *size,
                    struct bt_error *error)
{
    (void)cluster;
    uint64_t length;
    *bytes = NULL;
    *size = 0;
    int code = MPI_Recv(&length, 1, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        return failed("read from", code, error);
    if (length == 0)
        return 0;
    char *received = malloc(length);
    if (!received)
        return bt_fail(error, BT_MEMORY, "no memory for another process's %llu bytes",
                       (unsigned long long)length);
    for (size_t done = 0; code == MPI_SUCCESS && done < length; done += PIECE_BYTES) {
        size_t piece = length - done < PIECE_BYTES ? length - done : PIECE_BYTES;
        code = MPI_Recv(received + done, (int)piece, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
    }
    if (code != MPI_SUCCESS) {
        free(received);
        return failed("read from", code, error);
    }
    *bytes = received;
    *size = length;
    return 0;
}

int cluster_sum(struct cluster *cluster, uint64_t *values, size_t count, struct bt_error *error)
{
    int code = MPI_SUCCESS;
    size_t most = PIECE_BYTES / sizeof *values;
    for (size_t done = 0; cluster->size > 1 && code == MPI_SUCCESS && done < count; done += most) {
        int piece = (int)(count - done < most ? count - done : most);
        if (cluster->rank == 0)
            code = MPI_Reduce(MPI_IN_PLACE, values + done, piece, MPI_UINT64_T, MPI_SUM, 0,
                              MPI_COMM_WORLD);
        else
            code = MPI_Reduce(values + done, NULL, piece, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    return code == MPI_SUCCESS ? 0 : failed("add up with", code, error);
}

int cluster_status(struct cluster *cluster, int status)
{
    int worst = status;
    if (cluster->size > 1)
        MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}
