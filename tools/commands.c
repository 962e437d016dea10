#include "tools/commands.h"

#include "tools/boards.h"
#include "tools/capture.h"
#include "tools/ctl.h"
#include "tools/doctor.h"
#include "tools/dump.h"
#include "tools/info.h"
#include "tools/recover.h"
#include "tools/verify.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

static const struct command *const commands[] = {
    &capture_command, &ctl_command,     &boards_command,
    &doctor_command,  &dump_command,    &info_command,
    &verify_command,  &recover_command, NULL};

static const struct command *find_command(const char *name)
{
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

/* Letters to insert, remove or replace to make b of a; b is one of our short names. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[16];
    size_t width = strlen(b);
    if (width >= sizeof row / sizeof row[0])
        return width;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= width; j++) {
            size_t replaced = diagonal + (*a != b[j - 1]);
            size_t added = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < added ? replaced : added;
        }
    }
    return row[width];
}

static int unknown_command(const char *name)
{
    const char *nearest = NULL;
    size_t distance = 3; /* farther is no slip of the finger */
    for (const struct command *const *c = commands; *c; c++) {
        size_t now = edit_distance(name, (*c)->name);
        if (now < distance) {
            distance = now;
            nearest = (*c)->name;
        }
    }
    if (nearest)
        fprintf(stderr, "bustap: unknown command '%.60s', did you mean '%s'? See 'bustap -h'\n",
                name, nearest);
    else
        fprintf(stderr, "bustap: unknown command '%.60s', see 'bustap -h'\n", name);
    return STATUS_USAGE;
}

static void print_overview(FILE *out)
{
    fputs("usage: bustap COMMAND [OPTIONS] ...\n\n"
          "Captures what travels on a bus into compressed trace files, and reads them.\n\n",
          out);
    for (const struct command *const *c = commands; *c; c++)
        fprintf(out, "  %-9s %s\n", (*c)->name, (*c)->summary);
    fputs("\n'bustap COMMAND -h' prints a command's options, 'bustap --version' the version.\n"
          "Exit status: 0 good, 1 data damaged, incomplete or lossy, 2 usage, 3 device or I/O.\n",
          out);
}

static void print_help(const struct invocation *call)
{
    const struct command *command = call->command;
    printf("usage: %s [OPTIONS]%s%s\n\n%s\n\n", call->called, *command->operands ? " " : "",
           command->operands, command->details);
    options_help(command->options, stdout);
}

int command_usage(const struct invocation *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", call->called);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ", see '%s -h'\n", call->called);
    va_end(arguments);
    return STATUS_USAGE;
}

int command_failure(const struct bt_error *error)
{
    fprintf(stderr, "bustap: %s\n", error->message);
    return bt_exit_status(error->code);
}

bool command_options(struct invocation *call, void *settings, int *status)
{
    struct bt_error error;
    int first =
        options_parse(call->command->options, settings, call->count, call->arguments, &error);
    if (first < 0) {
        *status = command_usage(call, "%s", error.message);
        return false;
    }
    if (first == 0) {
        print_help(call);
        *status = 0;
        return false;
    }
    call->arguments += first;
    call->count -= first;
    return true;
}

static int run_command(const struct command *command, const char *called, int count,
                       char **arguments)
{
    char name[64];
    snprintf(name, sizeof name, called ? "%s" : "bustap %s", called ? called : command->name);
    struct invocation call = {command, name, count, arguments};
    return command->run(&call);
}

static int dispatch(int count, char **arguments)
{
    const char *program = count > 0 ? strrchr(arguments[0], '/') : NULL;
    program = program ? program + 1 : count > 0 ? arguments[0] : "";
    if (strcmp(program, "b2a") == 0)
        return run_command(&dump_command, "b2a", count, arguments);
    if (count < 2) {
        print_overview(stderr);
        return STATUS_USAGE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) {
        print_overview(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        puts("bustap " BUSTAP_VERSION);
        return 0;
    }
    const struct command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    return run_command(command, NULL, count - 1, arguments + 1);
}

int commands_main(int count, char **arguments)
{
    /* A reader that went away is an answer of write(), as is a file at its size limit. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int status = dispatch(count, arguments);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE)
        return status;
    fprintf(stderr, "bustap: cannot write standard output: %s\n", strerror(errno));
    return STATUS_IO;
}
