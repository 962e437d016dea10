/* `bustap dcfg blocks`. */
#ifndef TOOLS_DCFG_BLOCKS_H
#define TOOLS_DCFG_BLOCKS_H

#include "tools/commands.h"

extern const struct command dcfg_blocks_command;

#endif
