/* `bustap dump`. */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include "tools/commands.h"

extern const struct command dump_command;

#endif
