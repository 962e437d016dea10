/* Commands as users write them in options: a program and its arguments, separated by blanks. There
 * is no shell, and no quoting. */
#ifndef FORMATS_BASE_PROGRAM_WORDS_H
#define FORMATS_BASE_PROGRAM_WORDS_H

#include "formats/base/error.h"

#include <stddef.h>

#define PROGRAM_WORDS_BYTES 4352u /* of a command, with its NUL */

struct program_words {
    char text[PROGRAM_WORDS_BYTES];           /* the words, each with its NUL */
    char *words[PROGRAM_WORDS_BYTES / 2 + 2]; /* a NULL follows the last, with room for one more */
    size_t count;
};

/* Splits a command. 0, or BT_USAGE: it is empty or too long. */
int program_words_split(struct program_words *words, const char *command, struct bt_error *error);

/* Whether the first word is a program that can be found and executed. 0 or BT_USAGE. */
int program_words_find(const struct program_words *words, struct bt_error *error);

#endif
