/*
 * Forgets the sizes of fetches that a format estimates (sizes_estimated of struct capture_info): a
 * fetch has its size if the next fetch is at its end, else size 0, unknown. The same branch,
 * taken and not taken, is then one instruction (flow.h).
 */
#ifndef TOOLS_DCFG_GRAPH_FETCH_SIZES_H
#define TOOLS_DCFG_GRAPH_FETCH_SIZES_H

#include "formats/record/sink.h"

struct fetch_sizes;

/* The sink is the caller's and must outlive it. NULL and *error without memory. */
struct fetch_sizes *fetch_sizes_new(struct sink *to, struct bt_error *error);
void fetch_sizes_free(struct fetch_sizes *sizes);

/* Puts the fetches of a batch of one processor, whose records it changes. The last one is put with
 * the next batch. 0 or the sink's error. */
int fetch_sizes_put(struct fetch_sizes *sizes, const struct batch *batch, struct bt_error *error);

/* Puts the last fetch of all. 0 or the sink's error. */
int fetch_sizes_end(struct fetch_sizes *sizes, struct bt_error *error);

#endif
