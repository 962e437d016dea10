/* The end of a command that executes a program in its own process: signals while it reports. */
#ifndef TOOLS_EXEC_EXEC_REPORT_H
#define TOOLS_EXEC_EXEC_REPORT_H

#include "capture/exec/kernel/process.h"

/*
 * Call it after process_run(), before the report is written. A reader of the report that has gone
 * is an error of its write. SIGINT and SIGTERM that belong to the request that ended the program do
 * not interrupt the report; those of another request do (capture/patience.h).
 */
void exec_report_begin(const struct process_end *end);

#endif
