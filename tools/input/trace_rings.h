/*
 * Rings that several captures share: --keep counts all complete files of a prefix, so that later
 * captures also remove the first files of earlier ones.
 */
#ifndef TOOLS_INPUT_TRACE_RINGS_H
#define TOOLS_INPUT_TRACE_RINGS_H

#include "tools/input/trace_check.h"

/* Sets later_files and later_keep of every file in a complete set. They stay 0 if memory is short:
 * a capture's removed first files then count as missing. */
void trace_rings_count(struct trace_set *set);

#endif
