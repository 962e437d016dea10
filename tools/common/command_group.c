#include "tools/common/command_group.h"

#include "formats/base/printable.h"
#include "formats/base/suggestion.h"
#include "tools/common/wrap.h"

#include <string.h>

static const struct command *find(const struct command *const *list, const char *name)
{
    for (const struct command *const *c = list; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

/* The name most similar to a misspelt one; NULL: none is similar. */
static const char *nearest(const struct command *const *list, const char *name)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    for (const struct command *const *c = list; *c; c++)
        suggestion_try(&suggestion, (*c)->name);
    return suggestion.nearest;
}

static int unknown(const struct command *const *list, const char *called, const char *name)
{
    const char *meant = nearest(list, name);
    if (meant)
        fprintf(stderr, "%s: unknown command '%.60s', did you mean '%s'? See '%s -h'\n", called,
                PRINTABLE(name), meant, called);
    else
        fprintf(stderr, "%s: unknown command '%.60s', see '%s -h'\n", called, PRINTABLE(name),
                called);
    return STATUS_USAGE;
}

void command_list_print(const struct command *const *list, FILE *out)
{
    for (const struct command *const *c = list; *c; c++)
        fprintf(out, "  %-11s %s\n", (*c)->name, (*c)->summary);
}

int command_run(const struct command *command, const char *called, int count, char **arguments,
                const sigset_t *mask)
{
    struct invocation call = {command, called, count, arguments, mask};
    if (!command->takes_signals)
        sigprocmask(SIG_SETMASK, mask, NULL);
    return command->run(&call);
}

/* Runs a command of a list; its name in messages is "CALLED NAME". */
static int run_listed(const struct command *command, const char *called, int count,
                      char **arguments, const sigset_t *mask)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", called, command->name);
    return command_run(command, name, count, arguments, mask);
}

int command_choose(const struct command *const *list, const char *called, int count,
                   char **arguments, const sigset_t *mask)
{
    const struct command *command = find(list, arguments[0]);
    return command ? run_listed(command, called, count, arguments, mask)
                   : unknown(list, called, arguments[0]);
}

static void print_group(const struct invocation *call, FILE *out)
{
    fprintf(out, "usage: %s [-h] COMMAND [OPTIONS] ...\n\n", call->called);
    wrap_print(call->command->details, 0, out);
    fputc('\n', out);
    command_list_print(call->command->group, out);
    fprintf(out, "\n'%s COMMAND -h' prints a command's options.\n", call->called);
}

int command_group_run(struct invocation *call)
{
    if (call->count < 2) {
        print_group(call, stderr);
        return STATUS_USAGE;
    }
    if (strcmp(call->arguments[1], "-h") == 0 || strcmp(call->arguments[1], "--help") == 0) {
        print_group(call, stdout);
        return 0;
    }
    return command_choose(call->command->group, call->called, call->count - 1, call->arguments + 1,
                          call->mask);
}

bool command_group_try(const struct invocation *call, int *status)
{
    const struct command *command =
        call->count > 1 ? find(call->command->group, call->arguments[1]) : NULL;
    if (command)
        *status =
            run_listed(command, call->called, call->count - 1, call->arguments + 1, call->mask);
    return command;
}

void command_group_suggest(const struct invocation *call, const char *program,
                           struct bt_error *error)
{
    suggestion_add(error, nearest(call->command->group, program));
}
