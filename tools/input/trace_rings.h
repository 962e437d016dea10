/*
 * Rings that several captures share: --keep counts all complete files of a prefix, so that a
 * capture also loses its first files to captures that came after it.
 */
#ifndef TOOLS_INPUT_TRACE_RINGS_H
#define TOOLS_INPUT_TRACE_RINGS_H

#include "tools/input/trace_check.h"

/* Fills later_files and later_keep of every file in a set that is read whole. Without memory they
 * stay 0: then a capture's first files count as missing. */
void trace_rings_count(struct trace_set *set);

#endif
