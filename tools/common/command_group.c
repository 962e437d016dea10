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

static int unknown(const struct command *const *list, const char *called, const char *name)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, name);
    for (const struct command *const *c = list; *c; c++)
        suggestion_try(&suggestion, (*c)->name);
    if (suggestion.nearest)
        fprintf(stderr, "%s: unknown command '%.60s', did you mean '%s'? See '%s -h'\n", called,
                PRINTABLE(name), suggestion.nearest, called);
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

int command_choose(const struct command *const *list, const char *called, int count,
                   char **arguments, const sigset_t *mask)
{
    const struct command *command = find(list, arguments[0]);
    if (!command)
        return unknown(list, called, arguments[0]);
    char name[64];
    snprintf(name, sizeof name, "%s %s", called, command->name);
    return command_run(command, name, count, arguments, mask);
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
