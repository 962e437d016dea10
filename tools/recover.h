/* `bustap recover`. */
#ifndef TOOLS_RECOVER_H
#define TOOLS_RECOVER_H

#include "tools/commands.h"

extern const struct command recover_command;

#endif
