/* `bustap rondo`: branch predictors tried on a program that runs. */
#ifndef TOOLS_RONDO_H
#define TOOLS_RONDO_H

#include "tools/commands.h"

extern const struct command rondo_command;

#endif
