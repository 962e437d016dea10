#include "tools/commands.h"

#include "capture/signal_guard.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "tools/boards.h"
#include "tools/cache.h"
#include "tools/capture.h"
#include "tools/command_group.h"
#include "tools/convert.h"
#include "tools/ctl.h"
#include "tools/dcfg.h"
#include "tools/doctor.h"
#include "tools/dump.h"
#include "tools/exec.h"
#include "tools/info.h"
#include "tools/mrc.h"
#include "tools/plot.h"
#include "tools/profile.h"
#include "tools/recover.h"
#include "tools/rondo.h"
#include "tools/verify.h"
#include "tools/wrap.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>

static const struct command *const commands[] = {
    &capture_command,
    &ctl_command,
    &boards_command,
    &doctor_command,
    &dump_command,
    &info_command,
    &verify_command,
    &recover_command,
    &cache_command,
    &convert_command,
    &plot_command,
    &dcfg_command,
    &mrc_command,
    &exec_command,
    &profile_command,
    &rondo_command,
    NULL, /* a comma behind it: a line for each */
};

static void print_overview(FILE *out)
{
    fputs("usage: bustap COMMAND [OPTIONS] ...\n\n"
          "Captures what travels on a bus into compressed trace files, and reads them.\n\n",
          out);
    command_list_print(commands, out);
    fputs("\n'bustap COMMAND -h' prints a command's options, 'bustap --version' the version.\n"
          "Exit status: 0 good, 1 damaged, incomplete or lossy, 2 usage, 3 device or I/O.\n",
          out);
}

static void print_help(const struct invocation *call)
{
    const struct command *command = call->command;
    printf("usage: %s [OPTIONS]%s%s\n\n", call->called, *command->operands ? " " : "",
           command->operands);
    wrap_print(command->details, 0, stdout);
    fputc('\n', stdout);
    options_help(command->options, stdout);
}

int command_usage(const struct invocation *call, const char *format, ...)
{
    char message[sizeof((struct bt_error *)NULL)->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s, see '%s -h'\n", call->called, printable_make(message), call->called);
    return STATUS_USAGE;
}

int command_failure(const struct bt_error *error)
{
    fprintf(stderr, "bustap: %s\n", error->message);
    return bt_exit_status(error->code);
}

int command_no_memory(void)
{
    fputs("bustap: no memory\n", stderr);
    return bt_exit_status(BT_MEMORY);
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

/* What was ignored before has no flags: execve(2) clears them. */
#define OURS SA_RESTART

static void command_ignore(int number)
{
    struct sigaction before;
    struct sigaction action = {.sa_flags = OURS};
    action.sa_handler = SIG_IGN;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void command_ignore_no_more(void)
{
    static const int numbers[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN &&
            (action.sa_flags & OURS))
            signal(numbers[i], SIG_DFL);
    }
}

static int dispatch(int count, char **arguments, const sigset_t *mask)
{
    const char *program = count > 0 ? strrchr(arguments[0], '/') : NULL;
    program = program ? program + 1 : count > 0 ? arguments[0] : "";
    if (strcmp(program, "b2a") == 0)
        return command_run(&dump_command, "b2a", count, arguments, mask);
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
    return command_choose(commands, "bustap", count - 1, arguments + 1, mask);
}

int commands_main(int count, char **arguments)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    signal_guard_block(); /* a command that does not take signals itself unblocks them */
    if (standard_streams_keep() < 0 || standard_streams_wait() < 0)
        return STATUS_IO;
    /* A reader that went away is an answer of write(), as is a file at its size limit. */
    command_ignore(SIGPIPE);
    command_ignore(SIGXFSZ);
    int status = dispatch(count, arguments, &mask);
    struct bt_error error;
    return standard_streams_finish(&error) < 0 ? command_failure(&error) : status;
}
