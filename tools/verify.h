/* `bustap verify`. */
#ifndef TOOLS_VERIFY_H
#define TOOLS_VERIFY_H

#include "tools/commands.h"

extern const struct command verify_command;

#endif
