/* bustap convert: traces from and to the formats of other programs. */
#ifndef TOOLS_CONVERT_H
#define TOOLS_CONVERT_H

#include "tools/commands.h"

extern const struct command convert_command;

#endif
