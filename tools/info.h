/* `bustap info`. */
#ifndef TOOLS_INFO_H
#define TOOLS_INFO_H

#include "tools/commands.h"

extern const struct command info_command;

#endif
