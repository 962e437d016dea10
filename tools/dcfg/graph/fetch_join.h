/*
 * Joins the two fetches of an instruction of more than 8 bytes. A bus transfers at most 8 bytes of
 * an instruction in a request (capture/program/bus_source.h); the second request follows the first
 * one at the same tick. Images show which instructions are that long.
 */
#ifndef TOOLS_DCFG_GRAPH_FETCH_JOIN_H
#define TOOLS_DCFG_GRAPH_FETCH_JOIN_H

#include "formats/record/sink.h"
#include "tools/symbols/image.h"

struct fetch_join;

/* The images and the sink are the caller's and must outlive it. NULL and *error without memory. */
struct fetch_join *fetch_join_new(const struct images *images, struct sink *to,
                                  struct bt_error *error);
void fetch_join_free(struct fetch_join *join);

/* Puts a batch, whose records it changes. A first half at its end is put with the next batch. 0 or
 * the sink's error. */
int fetch_join_put(struct fetch_join *join, const struct batch *batch, struct bt_error *error);

/* Ends the stream. 0 or the sink's error. */
int fetch_join_end(struct fetch_join *join, struct bt_error *error);

#endif
