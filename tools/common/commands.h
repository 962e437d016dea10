/*
 * The commands of bustap. Each is defined in a separate file; help, dispatch and parsing come
 * from these descriptions.
 */
#ifndef TOOLS_COMMON_COMMANDS_H
#define TOOLS_COMMON_COMMANDS_H

#include "tools/common/command.h"

extern const struct command boards_command;
extern const struct command cache_command;
extern const struct command capture_command;
extern const struct command convert_command;
extern const struct command ctl_command;
extern const struct command cut_command;
extern const struct command dcfg_annotate_command;
extern const struct command dcfg_blocks_command;
extern const struct command dcfg_build_command;
extern const struct command dcfg_callgrind_command;
extern const struct command dcfg_check_command;
extern const struct command dcfg_command;
extern const struct command dcfg_diff_command;
extern const struct command dcfg_dot_command;
extern const struct command dcfg_expand_command;
extern const struct command dcfg_functions_command;
extern const struct command dcfg_fetches_command;
extern const struct command dcfg_loops_command;
extern const struct command dcfg_paths_command;
extern const struct command depend_check_command;
extern const struct command depend_command;
extern const struct command doctor_command;
extern const struct command dump_command;
extern const struct command exec_command;
extern const struct command follow_command;
extern const struct command info_command;
extern const struct command merge_command;
extern const struct command mrc_command;
extern const struct command pack_command;
extern const struct command plot_command;
extern const struct command profile_command;
extern const struct command recover_command;
extern const struct command rondo_command;
extern const struct command slice_command;
extern const struct command top_command;
extern const struct command verify_command;
extern const struct command wet_check_command;
extern const struct command wet_command;
extern const struct command wet_print_command;
extern const struct command wet_report_command;

#endif
