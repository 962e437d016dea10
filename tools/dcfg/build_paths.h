/* Checks that outputs do not replace inputs. */
#ifndef TOOLS_DCFG_BUILD_PATHS_H
#define TOOLS_DCFG_BUILD_PATHS_H

#include "tools/input/captures.h"
#include "tools/symbols/image.h"

/* Checks that the graph and the trace (NULL: none) are distinct files, and neither a capture nor an
 * image (images: NULL if none). "-", pipes and devices are allowed. 0 or BT_USAGE. */
int build_paths_check(const char *graph, const char *trace, const struct captures *captures,
                      const struct images *images, struct bt_error *error);

#endif
