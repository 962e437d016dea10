/*
 * Description of a command of bustap, and the options, messages and exit statuses of all commands.
 */
#ifndef TOOLS_COMMON_COMMAND_H
#define TOOLS_COMMON_COMMAND_H

#include "formats/base/named_fields.h"
#include "tools/common/options.h"

#include <signal.h>
#include <stdbool.h>

/* Exit statuses of all commands, as bustap(1) lists them; bt_exit_status returns the same. */
enum command_status {
    STATUS_GOOD = 0,
    STATUS_DATA = 1,  /* the data is corrupt, incomplete or lossy */
    STATUS_USAGE = 2, /* the command line is invalid */
    STATUS_IO = 3     /* a device, a file or a socket failed */
};

/* One call of a command. */
struct invocation {
    const struct command *command;
    const char *called; /* name in messages: "bustap dump", "b2a" */
    int count;          /* number of arguments; arguments[0] is the command's name */
    char **arguments;
    const sigset_t *mask; /* signal mask at the start of the process */
};

struct NAMED_FIELDS command {
    const char *name;
    const char *operands; /* "FILE...", for help */
    const char *summary;  /* one line, for `bustap -h` */
    const char *details;  /* some lines, for `bustap COMMAND -h` */
    const struct option_row *options;
    void (*print_more)(FILE *out);       /* NULL, or prints what help shows after the options */
    int (*run)(struct invocation *call); /* returns the exit status */
    const struct command *const *group;  /* subcommands, terminated by NULL; or NULL */
    bool reads_captures;                 /* operands are captures; lists of modules are skipped */
    bool takes_signals;                  /* the signals of a signal_guard stay blocked */
};

/*
 * Reads the options of a call into settings and leaves the operands in call->arguments[0] to
 * [call->count - 1], of reads_captures without lists of modules. Returns true to continue; false
 * after printing help or an error, with the exit status in *status.
 */
bool command_options(struct invocation *call, void *settings, int *status);

/* Prints "CALLED: message, see 'CALLED -h'" and returns the exit status of a usage error. */
int command_usage(const struct invocation *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for `given`, which is none of the words of the option `name`. */
int command_wrong_word(const struct invocation *call, const char *name, const char *given);

/* Ignores SIGPIPE and SIGXFSZ: write() then returns an error if the reader has closed its end or
 * the file is at its size limit. */
void command_ignore_signals(void);

/* Undoes command_ignore_signals(), before this process executes another program. */
void command_restore_signals(void);

/* Prints "bustap: message" to standard error and returns the exit status for error->code. */
int command_failure(const struct bt_error *error);

/* The same for a failed allocation. */
int command_no_memory(void);

#endif
