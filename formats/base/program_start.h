/* Starts other programs with default signals and no descriptors but the standard streams. */
#ifndef FORMATS_BASE_PROGRAM_START_H
#define FORMATS_BASE_PROGRAM_START_H

#include <sys/types.h>

/*
 * Starts arguments[0], which is searched in PATH if it has no slash. streams become its standard
 * input, output and error; the first may be -1 for an empty input. All other descriptors are
 * closed. The program has a process group of its own, which a terminal's signals do not reach; none
 * of its signals is blocked, and none that bustap ignores is ignored. environment: NULL for the
 * caller's. The caller waits for *process. 0 or an errno.
 */
int program_start(pid_t *process, char *const arguments[], char *const environment[],
                  const int streams[3]);

#endif
