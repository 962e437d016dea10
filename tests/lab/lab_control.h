/*
 * Commands of scenarios to the laboratory's boards: one line each way.
 *
 *   [BOARD] COMMAND [ARGUMENT...]      answered by "ok ..." or "error ..."
 *
 * BOARD is 0 (the default) or 1. tests/lab/README.md lists the commands.
 */
#ifndef TESTS_LAB_LAB_CONTROL_H
#define TESTS_LAB_LAB_CONTROL_H

#include "tests/lab/lab_board.h"

#define LAB_CONTROL_LINE 512u

/* Executes the command in line, which it modifies, and writes the answer, without a newline. */
void lab_control(struct lab_board *const *boards, unsigned count, char *line,
                 char answer[LAB_CONTROL_LINE]);

#endif
