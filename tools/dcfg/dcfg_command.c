
#include "tools/common/command_group.h"
#include "tools/common/commands.h"

static const struct command *const dcfg_commands[] = {
    &dcfg_build_command,
    &dcfg_check_command,
    &dcfg_expand_command,
    &dcfg_functions_command,
    &dcfg_blocks_command,
    &dcfg_annotate_command,
    &dcfg_loops_command,
    &dcfg_paths_command,
    &dcfg_diff_command,
    &dcfg_dot_command,
    &dcfg_callgrind_command,
    &dcfg_fetches_command,
    NULL,
};

const struct command dcfg_command = {
    .name = "dcfg",
    .operands = "COMMAND ...",
    .summary = "build control-flow graphs from captures and analyze them",
    .details = "Control-flow graphs (DCFG 1.00): which basic blocks were executed, how often, "
               "and which blocks followed each. Files may be compressed with gzip or bzip2; "
               "'-' is standard input.",
    .options = NULL,
    .run = command_group_run,
    .group = dcfg_commands};
