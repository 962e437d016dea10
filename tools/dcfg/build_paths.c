#include "tools/dcfg/build_paths.h"

#include "tools/common/overwrite.h"

#include <string.h>

static int check(const char *output, const struct captures *captures, const struct images *images,
                 struct bt_error *error)
{
    for (int i = 0; i < captures->count; i++)
        if (overwrite_happens(output, captures->paths[i]))
            return bt_fail(error, BT_USAGE, "%s is the capture: choose another name for the output",
                           output);
    for (uint32_t i = 0; i < images_count(images); i++)
        if (overwrite_happens(output, images_get(images, i)->path))
            return bt_fail(error, BT_USAGE, "%s is an image: choose another name for the output",
                           output);
    return overwrite_check_held(output, error);
}

int build_paths_check(const char *graph, const char *trace, const struct captures *captures,
                      const struct images *images, struct bt_error *error)
{
    /* at most one output may be standard output; as an input path "-" means standard input */
    if (trace && strcmp(graph, "-") != 0 && overwrite_happens(trace, graph))
        return bt_fail(error, BT_USAGE, "the graph and the trace cannot both be %s", graph);
    int result = check(graph, captures, images, error);
    if (result == 0 && trace)
        result = check(trace, captures, images, error);
    return result;
}
