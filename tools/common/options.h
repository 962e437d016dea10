/*
 * Options of a command from a table: parsing and help come from the same rows.
 */
#ifndef TOOLS_COMMON_OPTIONS_H
#define TOOLS_COMMON_OPTIONS_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdio.h>

/* What an option's argument is, and so the type of the field it goes to. */
enum option_kind {
    OPTION_END,      /* ends a table. Letter '+': options end at the first operand, as it and what
                        follows are another program's */
    OPTION_FLAG,     /* no argument: bool */
    OPTION_TEXT,     /* const char * */
    OPTION_FILE,     /* the same, not empty */
    OPTION_COUNT,    /* uint64_t, as quantity_count reads it */
    OPTION_POSITIVE, /* the same above 0 */
    OPTION_NUMBER,   /* uint32_t, the same below 2^32 */
    OPTION_BYTES,    /* uint64_t, quantity_bytes */
    OPTION_DURATION, /* int64_t nanoseconds, quantity_duration */
    OPTION_CALL      /* take() does it; may be given more than once */
};

struct option_row {
    enum option_kind kind;
    char letter;          /* its short form, 0 for none */
    const char *name;     /* its long form, without dashes */
    const char *argument; /* what help calls its argument; NULL with OPTION_FLAG */
    const char *help;     /* one line */
    size_t offset;        /* of the field in the command's settings */
    /* OPTION_CALL: takes the argument into the settings. 0 or a negative code. */
    int (*take)(void *settings, const char *argument, struct bt_error *error);
};

/*
 * Reads the options of arguments[1] to arguments[count - 1] into settings, moving operands behind
 * them. -h and --help are always known. Returns the place of the first operand (count: there is
 * none), 0 where help is wanted, or BT_USAGE. Not to be called by two threads: getopt_long.
 */
int options_parse(const struct option_row *rows, void *settings, int count, char **arguments,
                  struct bt_error *error);

/* Prints the table for people, --help included. */
void options_help(const struct option_row *rows, FILE *out);

#endif
