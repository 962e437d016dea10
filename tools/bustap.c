/* bustap: runs the command named on the command line; as b2a, runs `bustap dump`. */
#include "tools/common/commands.h"

#include "capture/signal_guard.h"
#include "formats/base/standard_streams.h"
#include "tools/common/command_group.h"
#include "tools/common/completion.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static int completion_main(struct invocation *call);

static const struct option_row completion_options[] = {
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

static const struct command completion_command = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary = "print a script that completes command lines in a shell",
    .details = "Prints the script of a shell, which 'make install' installs. In bash, 'source "
               "<(bustap completion bash)' loads it without an installation. The script asks "
               "'bustap completion words -- WORD...' for the candidates of the last word.",
    .options = completion_options,
    .run = completion_main,
    .group = NULL};

/* One command on each line. */
/* clang-format off */
static const struct command *const commands[] = {
    &capture_command,
    &ctl_command,
    &boards_command,
    &doctor_command,
    &dump_command,
    &follow_command,
    &info_command,
    &verify_command,
    &recover_command,
    &cut_command,
    &merge_command,
    &pack_command,
    &cache_command,
    &convert_command,
    &plot_command,
    &dcfg_command,
    &mrc_command,
    &top_command,
    &exec_command,
    &profile_command,
    &depend_command,
    &wet_command,
    &slice_command,
    &rondo_command,
    &completion_command,
    NULL
};
/* clang-format on */

static int completion_main(struct invocation *call)
{
    int status;
    if (!command_options(call, NULL, &status))
        return status;
    char **words = call->arguments;
    if (call->count > 0 && strcmp(words[0], "words") == 0) {
        const int skipped = call->count > 1 && strcmp(words[1], "--") == 0 ? 2 : 1;
        completion_print(commands, call->count - skipped, words + skipped, stdout);
        return STATUS_GOOD;
    }
    const char *const *script = call->count == 1 ? completion_script(words[0]) : NULL;
    if (!script)
        return command_usage(call, "one shell is needed: bash, zsh or fish");
    for (; *script; script++)
        fputs(*script, stdout);
    return STATUS_GOOD;
}

static void print_overview(FILE *out)
{
    fputs("usage: bustap [-h | --version] COMMAND [OPTIONS] ...\n\n"
          "Captures the requests on a bus into compressed trace files and analyzes them.\n\n",
          out);
    command_list_print(commands, out);
    fputs("\n'bustap COMMAND -h' prints a command's options, 'bustap --version' the version.\n"
          "Exit status: 0 good, 1 corrupt, incomplete or lossy, 2 usage, 3 device or I/O.\n",
          out);
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

int main(int argc, char **argv)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    signal_guard_block(); /* command_run unblocks them for commands without takes_signals */
    if (standard_streams_keep() < 0 || standard_streams_wait() < 0)
        return STATUS_IO;
    command_ignore_signals();
    int status = dispatch(argc, argv, &mask);
    struct bt_error error;
    return standard_streams_finish(&error) < 0 ? command_failure(&error) : status;
}
