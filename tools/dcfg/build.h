/* `bustap dcfg build`. */
#ifndef TOOLS_DCFG_BUILD_H
#define TOOLS_DCFG_BUILD_H

#include "tools/commands.h"

extern const struct command dcfg_build_command;

#endif
