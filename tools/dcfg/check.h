/* bustap dcfg check: whether a graph and its trace keep to the rules of their formats. */
#ifndef TOOLS_DCFG_CHECK_H
#define TOOLS_DCFG_CHECK_H

#include "tools/commands.h"

extern const struct command dcfg_check_command;

#endif
