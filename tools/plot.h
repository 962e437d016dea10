/* bustap plot: pictures of captures. */
#ifndef TOOLS_PLOT_H
#define TOOLS_PLOT_H

#include "tools/commands.h"

extern const struct command plot_command;

#endif
