/*
 * Options of a command from a table: parsing and help come from the same rows.
 */
#ifndef TOOLS_COMMON_OPTIONS_H
#define TOOLS_COMMON_OPTIONS_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The kind of an option's argument, with the type of its field in the settings. */
enum option_kind {
    OPTION_END,      /* ends a table. Letter '+': options end at the first operand, which begins
                        another program's command line */
    OPTION_FLAG,     /* no argument: bool */
    OPTION_TEXT,     /* const char * */
    OPTION_FILE,     /* the same, not empty */
    OPTION_COUNT,    /* uint64_t, as quantity_count reads it */
    OPTION_POSITIVE, /* the same, above 0 */
    OPTION_NUMBER,   /* uint32_t, as quantity_count reads it */
    OPTION_BYTES,    /* uint64_t, quantity_bytes */
    OPTION_DURATION, /* int64_t nanoseconds, quantity_duration */
    OPTION_CALL,     /* calls take() for each use of the option */
    OPTION_OPTIONAL  /* the same; the argument may be missing (NULL): it is "--name=ARGUMENT", or
                        the next word if that begins with a digit */
};

struct option_row {
    enum option_kind kind;
    char letter;      /* short form, 0: none */
    const char *name; /* long form, without dashes */
    /* Name of the argument in help; NULL with OPTION_FLAG. Words that it can be, or begin with, may
     * follow, separated by blanks: "FORM plain delta". More text follows a word that ends with '='
     * or ':'. With a comma before them, "LIST , raw war waw", it is a list of words. FILE, OUT, IN,
     * PATH, PREFIX and ELF[@LOAD] are names of files. */
    const char *argument;
    const char *help; /* one line */
    size_t offset;    /* offset of the field in the command's settings, in bytes */
    /* OPTION_CALL and OPTION_OPTIONAL: reads the argument into the field at the offset. 0 or a
     * negative code. */
    int (*take)(void *field, const char *argument, struct bt_error *error);
};

/* Rows that several commands share. type is the command's settings, member its field: a bool where
 * no other type is given. */
#define OPTION_CSV_ROW(type, member)                                                               \
    {                                                                                              \
        OPTION_FLAG, 0, "csv", NULL, "comma separated values, with a heading",                     \
            offsetof(type, member), NULL                                                           \
    }
#define OPTION_JSON_ROW(type, member)                                                              \
    {                                                                                              \
        OPTION_FLAG, 0, "json", NULL, "one JSON object", offsetof(type, member), NULL              \
    }
#define OPTION_JSON_LINES_ROW(type, member)                                                        \
    {                                                                                              \
        OPTION_FLAG, 0, "json", NULL, "one JSON object a line", offsetof(type, member), NULL       \
    }
/* The member is a uint64_t. */
#define OPTION_QUANTUM_ROW(type, member)                                                           \
    {                                                                                              \
        OPTION_POSITIVE, 0, "quantum", "N",                                                        \
            "instructions that a thread executes in one turn (default: 10000)",                    \
            offsetof(type, member), NULL                                                           \
    }

/* For commands that execute a program. */
#define OPTION_NO_CACHE_ROW(type, member)                                                          \
    {                                                                                              \
        OPTION_FLAG, 0, "no-cache", NULL,                                                          \
            "do not use or keep translations of the program on disk", offsetof(type, member), NULL \
    }

/*
 * Reads the options of arguments[1] to arguments[count - 1] into settings and moves the operands to
 * the end. Every command has -h and --help. Returns the index of the first operand (count: no
 * operands), 0 if help is requested, BT_USAGE or BT_MEMORY. Not thread-safe, as getopt_long.
 */
int options_parse(const struct option_row *rows, void *settings, int count, char **arguments,
                  struct bt_error *error);

/* Row -h and --help of every command. */
extern const struct option_row options_help_row;

#define OPTION_WORD_BYTES 64u

/* Copies the next word of *words, a row's argument or the rest of one; NULL: there is none. A
 * row's first word is the argument's name. Moves *words after it. Returns word. */
char *options_word(const char **words, char word[OPTION_WORD_BYTES]);

/* Whether the argument is a list of words; the comma before them is no word. */
bool options_is_list(const struct option_row *row);

/* The error for `given`, which is none of the words of the option `name`: names them, and the one
 * that may be meant. Returns BT_USAGE. */
int options_wrong_word(const struct option_row *rows, const char *name, const char *given,
                       struct bt_error *error);

/* Prints the options and their help texts, --help included, and where units are explained if an
 * argument has one. */
void options_help(const struct option_row *rows, FILE *out);

#endif
