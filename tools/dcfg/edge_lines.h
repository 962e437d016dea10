/*
 * The lines of `dcfg expand`: a thread, the edge's number in the thread's trace, and what the graph
 * knows of the edge. The latter is formatted once for each edge, as a trace has far more edges than
 * its graph.
 */
#ifndef TOOLS_DCFG_EDGE_LINES_H
#define TOOLS_DCFG_EDGE_LINES_H

#include "tools/common/output.h"
#include "tools/dcfg/view_command.h"

struct edge_lines;

/* Lines for the edges of the view's process. The view must outlive them. memory_max: bytes of the
 * formatted texts that are kept; when they are full, all are dropped and made again as needed. NULL
 * and *error without memory. */
struct edge_lines *edge_lines_new(const struct view *view, enum view_form form, size_t memory_max,
                                  struct bt_error *error);
void edge_lines_free(struct edge_lines *lines);

/* Prints the heading, if the form has one. 0 or a negative code. */
int edge_lines_heading(const struct edge_lines *lines, struct output *output,
                       struct bt_error *error);

/*
 * Prints count edges of a thread, given by their ids; the first one is number `index` of the
 * thread's trace. Returns how many were printed: if fewer than count, then the next id is not in
 * the graph. Negative on failure.
 */
long edge_lines_print(struct edge_lines *lines, uint32_t thread, uint64_t index,
                      const uint32_t *ids, size_t count, struct output *output,
                      struct bt_error *error);

#endif
