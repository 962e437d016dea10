/* `bustap dcfg diff`. */
#ifndef TOOLS_DCFG_DIFF_H
#define TOOLS_DCFG_DIFF_H

#include "tools/commands.h"

extern const struct command dcfg_diff_command;

#endif
