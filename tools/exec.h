/* `bustap exec`: runs a program, and captures its references. */
#ifndef TOOLS_EXEC_H
#define TOOLS_EXEC_H

#include "tools/commands.h"

extern const struct command exec_command;

#endif
