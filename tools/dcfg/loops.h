/* `bustap dcfg loops`. */
#ifndef TOOLS_DCFG_LOOPS_H
#define TOOLS_DCFG_LOOPS_H

#include "tools/commands.h"

extern const struct command dcfg_loops_command;

#endif
