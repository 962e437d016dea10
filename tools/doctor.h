/* `bustap doctor`. */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include "tools/commands.h"

extern const struct command doctor_command;

#endif
