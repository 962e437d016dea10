/* Lists of commands: choosing one by its name, and commands that are such lists themselves. */
#ifndef TOOLS_COMMON_COMMAND_GROUP_H
#define TOOLS_COMMON_COMMAND_GROUP_H

#include "tools/common/command.h"

/* One line for each command of a list that ends with NULL. */
void command_list_print(const struct command *const *list, FILE *out);

/* Runs a command under the name that users know it by, in a process that began with this mask of
 * signals. Returns its exit status. */
int command_run(const struct command *command, const char *called, int count, char **arguments,
                const sigset_t *mask);

/*
 * Runs the command of the list that arguments[0] names, "CALLED NAME" to its users; reports
 * an unknown one. Returns the exit status.
 */
int command_choose(const struct command *const *list, const char *called, int count,
                   char **arguments, const sigset_t *mask);

/* The run of a command that is a list of commands: command->group. */
int command_group_run(struct invocation *call);

#endif
