/* The instructions that possible executions have in common and apart, until it is known which one
 * took place; then they are put. */
#ifndef TOOLS_DCFG_GRAPH_BUS_PATHS_H
#define TOOLS_DCFG_GRAPH_BUS_PATHS_H

#include "formats/base/error.h"
#include "formats/record/record.h"
#include "tools/dcfg/graph/bus_code.h"

#include <stdbool.h>

#define PATH_NONE  UINT32_MAX /* all before was put */
#define PATH_NODES 16384u

/* Instructions at successive addresses that an execution had. */
struct path_node {
    uint32_t parent; /* PATH_NONE: all before was put */
    uint32_t start;
    uint32_t end;
    uint32_t certain; /* address from which on they are certain; end or more: none is */
    uint64_t chunk;   /* number of the chunk that completed them */
    uint32_t time;    /* its time */
    uint32_t skipped; /* number of prefetched chunks before it */
    uint8_t attribute;
};

/* Receives an executed instruction; assumed: it is not certain. 0 or a negative code. */
typedef int bus_path_put(void *context, const struct record *instruction, bool assumed,
                         struct bt_error *error);

struct bus_paths {
    struct bus_code *code;
    bus_path_put *put;
    void *context;
    struct record chunk; /* the current one */
    uint64_t number;     /* of the current chunk */
    uint64_t decided;    /* number of the first chunk that is not decided on */
    bool undecidable;    /* nothing is certain */
    bool doubted;        /* nothing is certain until this is false */
    uint64_t prefetched; /* chunks that were not executed */
    struct path_node nodes[PATH_NODES];
    uint32_t count;
    uint32_t chain[PATH_NODES];
};

/* Puts instructions at successive addresses. 0 or the result of put. */
int paths_put_node(struct bus_paths *paths, const struct path_node *node, bool certain,
                   struct bt_error *error);

/*
 * Decides on a path, the only one there is: all but the nodes of its last `lag` chunks, because
 * only what follows shows that these were executed, rather than prefetched or taken for others.
 * Puts what is decided, at the latest with one of the next calls; *tip is what is left. 0 or the
 * result of put.
 */
int paths_decide(struct bus_paths *paths, uint32_t *tip, uint32_t lag, struct bt_error *error);

/* Puts all of a path, and forgets all others. What is not decided is not certain. 0 or the result
 * of put. */
int paths_give_up(struct bus_paths *paths, uint32_t tip, struct bt_error *error);

/* The path with the instructions from start to end added, executed with the current chunk after
 * that many prefetched ones. noisy: they are not certain. */
uint32_t paths_add(struct bus_paths *paths, uint32_t tip, uint32_t start, uint32_t end,
                   uint32_t skipped, bool noisy);

/* What two paths do not share is not certain in the first one. */
void paths_doubt(struct bus_paths *paths, uint32_t kept, uint32_t other);

#endif
