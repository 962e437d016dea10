/* Words for what a graph counts: instructions, or chunks of a bus where no image shows these. */
#ifndef TOOLS_DCFG_UNITS_H
#define TOOLS_DCFG_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* What blocks consist of: "instruction" or "chunk"; in the plural unless count is 1. */
const char *unit_name(bool chunks, uint64_t count);

/* What was executed: "instruction" or "visit of a chunk"; likewise. */
const char *unit_executed(bool chunks, uint64_t count);

#endif
