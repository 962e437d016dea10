/* bustap profile: what a program executes, by function, line, block and module. */
#ifndef TOOLS_PROFILE_H
#define TOOLS_PROFILE_H

#include "tools/commands.h"

extern const struct command profile_command;

#endif
