#include "tools/dcfg/graph_confidence.h"

enum graph_confidence graph_confidence(const struct dcfg_process *process, uint32_t block)
{
    (void)process;
    (void)block;
    return GRAPH_CERTAIN;
}

const char *graph_confidence_name(enum graph_confidence confidence)
{
    static const char *const names[GRAPH_CONFIDENCES] = {
        [GRAPH_CERTAIN] = "certain",
        [GRAPH_ASSUMED] = "assumed",
        [GRAPH_NOT_EXPLAINED] = "not explained",
    };
    return names[confidence];
}
