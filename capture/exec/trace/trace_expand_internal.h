/* Functions shared by the files that expand a trace. */
#ifndef CAPTURE_EXEC_TRACE_TRACE_EXPAND_INTERNAL_H
#define CAPTURE_EXEC_TRACE_TRACE_EXPAND_INTERNAL_H

#include "capture/exec/trace/trace_expand.h"

/* A special expands to fewer records than this, unless it is repeated. */
#define TRACE_SPECIAL_RECORDS 512u

/* Result of trace_special(): `pause` of the expander says where the rest begins. */
#define TRACE_PAUSED 1

/* Appends one record, and flushes the batch when it is full. 0 or the consumer's code. */
int trace_expander_add(struct trace_expander *expander, uint32_t address, bool write,
                       unsigned size);

#endif
