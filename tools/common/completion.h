/*
 * Completion of command lines in shells. The candidates come from the descriptions of the commands
 * and from the rows of their options; the scripts for the shells ask for them on each key press.
 */
#ifndef TOOLS_COMMON_COMPLETION_H
#define TOOLS_COMMON_COMPLETION_H

#include "tools/common/command.h"

#include <stdio.h>

/*
 * Prints what the last of the words can be. words[0] is the program: bustap, which has `commands`
 * (terminated by NULL), b2a or bustapd. The first line is KIND, a tab, and the part of the last
 * word that file names do not replace. KIND is "files" if the word can be the name of a file,
 * "command" if it can be that of a program, else "words". A line "CANDIDATE\tDESCRIPTION" follows
 * for each word that begins with the last one; more text follows those that end with '=', ':' or
 * ','.
 */
void completion_print(const struct command *const *commands, int count, char **words, FILE *out);

/* The lines of the script for a shell, "bash", "zsh" or "fish", up to a NULL; NULL for another one.
 */
const char *const *completion_script(const char *shell);

#endif
