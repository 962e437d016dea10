/* `bustap capture`. */
#ifndef TOOLS_CAPTURE_H
#define TOOLS_CAPTURE_H

#include "tools/commands.h"

extern const struct command capture_command;

#endif
