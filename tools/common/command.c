#include "tools/common/command.h"

#include "formats/base/printable.h"
#include "tools/common/module_list_text.h"
#include "tools/common/wrap.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void print_help(const struct invocation *call)
{
    const struct command *command = call->command;
    printf("usage: %s [-h] [OPTIONS]%s%s\n\n", call->called, *command->operands ? " " : "",
           command->operands);
    wrap_print(command->details, 0, stdout);
    fputc('\n', stdout);
    options_help(command->options, stdout);
    if (command->print_more)
        command->print_more(stdout);
}

int command_usage(const struct invocation *call, const char *format, ...)
{
    char message[sizeof((struct bt_error *)NULL)->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t length = strlen(message);
    bool asks = length > 0 && message[length - 1] == '?';
    fprintf(stderr, "%s: %s%s '%s -h'\n", call->called, printable_make(message),
            asks ? " See" : ", see", call->called);
    return STATUS_USAGE;
}

int command_wrong_word(const struct invocation *call, const char *name, const char *given)
{
    struct bt_error error;
    options_wrong_word(call->command->options, name, given, &error);
    return command_usage(call, "%s", error.message);
}

int command_failure(const struct bt_error *error)
{
    fprintf(stderr, "bustap: %s\n", error->message);
    return bt_exit_status(error->code);
}

int command_no_memory(void)
{
    fputs("bustap: no memory is left\n", stderr);
    return bt_exit_status(BT_MEMORY);
}

bool command_options(struct invocation *call, void *settings, int *status)
{
    struct bt_error error;
    int first =
        options_parse(call->command->options, settings, call->count, call->arguments, &error);
    if (first == BT_MEMORY) {
        *status = command_failure(&error);
        return false;
    }
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
    if (call->command->reads_captures && module_list_skip(&call->count, call->arguments) > 0) {
        *status = command_usage(call,
                                "%.400s is a list of modules (doc/modules-file.md), not a "
                                "capture: give the captures that it is beside",
                                call->arguments[0]);
        return false;
    }
    return true;
}

/* Marks signals that this process ignores: those that its parent ignored have no flags, because
 * execve(2) clears them. */
#define OURS SA_RESTART

static void ignore(int number)
{
    struct sigaction before;
    struct sigaction action = {.sa_flags = OURS};
    action.sa_handler = SIG_IGN;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static const int ignored[] = {SIGPIPE, SIGXFSZ};
#define IGNORED_COUNT (sizeof ignored / sizeof *ignored)

void command_ignore_signals(void)
{
    for (size_t i = 0; i < IGNORED_COUNT; i++)
        ignore(ignored[i]);
}

void command_restore_signals(void)
{
    for (size_t i = 0; i < IGNORED_COUNT; i++) {
        struct sigaction action;
        if (sigaction(ignored[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN &&
            (action.sa_flags & OURS))
            signal(ignored[i], SIG_DFL);
    }
}
