/* Lists of commands: choosing one by its name, and commands with subcommands. */
#ifndef TOOLS_COMMON_COMMAND_GROUP_H
#define TOOLS_COMMON_COMMAND_GROUP_H

#include "tools/common/command.h"

/* Prints one line for each command of a list that ends with NULL. */
void command_list_print(const struct command *const *list, FILE *out);

/* Runs a command. `called` is its name in messages, mask the signal mask at the start of the
 * process. Returns the exit status. */
int command_run(const struct command *command, const char *called, int count, char **arguments,
                const sigset_t *mask);

/*
 * Runs the command of the list that arguments[0] names; its name in messages is "CALLED NAME".
 * Reports an unknown one. Returns the exit status.
 */
int command_choose(const struct command *const *list, const char *called, int count,
                   char **arguments, const sigset_t *mask);

/* run() of a command with subcommands: runs one of command->group. */
int command_group_run(struct invocation *call);

/*
 * For commands that run programs and have subcommands: runs the subcommand that the first argument
 * names. Returns whether there is one; *status is its exit status.
 */
bool command_group_try(const struct invocation *call, int *status);

/* Completes the message about a program that was not found with the subcommand that may be meant.
 */
void command_group_suggest(const struct invocation *call, const char *program,
                           struct bt_error *error);

#endif
