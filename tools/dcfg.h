/* bustap dcfg: control-flow graphs; a group of commands, one of each file in tools/dcfg/. */
#ifndef TOOLS_DCFG_H
#define TOOLS_DCFG_H

#include "tools/commands.h"

extern const struct command dcfg_command;

#endif
