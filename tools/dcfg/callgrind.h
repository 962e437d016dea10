/* `bustap dcfg callgrind`. */
#ifndef TOOLS_DCFG_CALLGRIND_H
#define TOOLS_DCFG_CALLGRIND_H

#include "tools/commands.h"

extern const struct command dcfg_callgrind_command;

#endif
