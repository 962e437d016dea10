/* Whether what a graph is built from would be replaced by what is built. */
#ifndef TOOLS_DCFG_BUILD_PATHS_H
#define TOOLS_DCFG_BUILD_PATHS_H

#include "tools/input/captures.h"
#include "tools/symbols/image.h"

/*
 * The graph and the trace (NULL: none is wanted) must be files of their own: neither the same one,
 * nor a capture, nor an image (images: NULL where there are none). "-", pipes and devices are
 * nobody's. 0, or BT_USAGE.
 */
int build_paths_check(const char *graph, const char *trace, const struct captures *captures,
                      const struct images *images, struct bt_error *error);

#endif
