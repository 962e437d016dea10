/* `bustap dcfg dot`. */
#ifndef TOOLS_DCFG_DOT_H
#define TOOLS_DCFG_DOT_H

#include "tools/commands.h"

extern const struct command dcfg_dot_command;

#endif
