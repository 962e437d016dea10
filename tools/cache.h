/* bustap cache: what caches would have made of a capture. */
#ifndef TOOLS_CACHE_H
#define TOOLS_CACHE_H

#include "tools/commands.h"

extern const struct command cache_command;

#endif
