/* How sure the count of a block is. */
#ifndef TOOLS_DCFG_GRAPH_CONFIDENCE_H
#define TOOLS_DCFG_GRAPH_CONFIDENCE_H

#include "formats/dcfg/dcfg.h"

enum graph_confidence {
    GRAPH_CERTAIN,       /* every execution that explains the capture has this count */
    GRAPH_ASSUMED,       /* the most likely of several executions has it */
    GRAPH_NOT_EXPLAINED, /* fetched, but not by an execution that is known */
    GRAPH_CONFIDENCES
};

/* Of a block (an index of process->blocks). Instruction streams are certain. */
enum graph_confidence graph_confidence(const struct dcfg_process *process, uint32_t block);

/* "certain", "assumed", "not explained". */
const char *graph_confidence_name(enum graph_confidence confidence);

#endif
