/* `bustap mrc`. */
#ifndef TOOLS_MRC_H
#define TOOLS_MRC_H

#include "tools/commands.h"

extern const struct command mrc_command;

#endif
