/* `bustap ctl`. */
#ifndef TOOLS_CTL_H
#define TOOLS_CTL_H

#include "tools/commands.h"

extern const struct command ctl_command;

#endif
