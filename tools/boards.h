/* `bustap boards`. */
#ifndef TOOLS_BOARDS_H
#define TOOLS_BOARDS_H

#include "tools/commands.h"

extern const struct command boards_command;

#endif
