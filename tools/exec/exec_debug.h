/* Prints what the translator does, for `bustap exec --debug`. */
#ifndef TOOLS_EXEC_EXEC_DEBUG_H
#define TOOLS_EXEC_EXEC_DEBUG_H

#include "capture/exec/kernel/signals.h"
#include "capture/exec/kernel/system_call.h"
#include "capture/exec/translate/code_cache.h"
#include "capture/program/exec_lanes.h"

#include <stdio.h>

/* Reads a list such as "blocks,signals,system-calls" into *what, EXEC_DEBUG_*. 0 or BT_USAGE. */
int exec_debug_parse(unsigned *what, const char *list, struct bt_error *error);

/* Opens path for appending. NULL with *error; the caller closes it. */
FILE *exec_debug_open(const char *path, struct bt_error *error);

/* Each prints one event of the thread with this processor number and flushes. They do nothing if
 * the stream is NULL. The block's source must be readable at its address. */
void exec_debug_block(FILE *to, unsigned processor, const struct block *block);
void exec_debug_signal(FILE *to, unsigned processor, const struct signal_report *signal);
void exec_debug_call(FILE *to, unsigned processor, const struct system_call *call, bool returned);

#endif
