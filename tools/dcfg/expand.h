/* bustap dcfg expand: the edges of a trace, one by one. */
#ifndef TOOLS_DCFG_EXPAND_H
#define TOOLS_DCFG_EXPAND_H

#include "tools/commands.h"

extern const struct command dcfg_expand_command;

#endif
