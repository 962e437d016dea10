/* Runs programs of tests/capture/programs/ natively and translated in all ways: output and end
 * must be the same. */
#ifndef TESTS_SUPPORT_EXEC_WAYS_H
#define TESTS_SUPPORT_EXEC_WAYS_H

#include <stdbool.h>
#include <stddef.h>

/* The programs' environment; ends with NULL. */
extern const char *const exec_ways_environment[];

/* Compiles tests/capture/programs/NAME.c into the folder and fills in the program's path. Returns
 * false if that is not possible here. */
bool exec_ways_compile(char *program, size_t room, const char *folder, const char *name,
                       const char *options);

/* Runs a program, linked in three ways, without an argument and with each one in arguments (ends
 * with NULL; may be NULL). Returns false, and prints the difference, if a way differs. */
bool exec_ways_agree(const char *name, const char *const *arguments);

#endif
