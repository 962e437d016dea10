/* Programs of tests/capture/programs/, natively and translated in all ways: the same output and the
 * same end. */
#ifndef TESTS_SUPPORT_EXEC_WAYS_H
#define TESTS_SUPPORT_EXEC_WAYS_H

#include <stdbool.h>
#include <stddef.h>

/* What the programs run with; ends with NULL. */
extern const char *const exec_ways_environment[];

/* Compiles tests/capture/programs/NAME.c into the folder, and says the program's path; false: that
 * is not possible here. */
bool exec_ways_compile(char *program, size_t room, const char *folder, const char *name,
                       const char *options);

/* Runs a program, linked in three ways, without an argument and with each of them (up to NULL;
 * NULL: there is none). False: something, which is printed, told how it was run. */
bool exec_ways_agree(const char *name, const char *const *arguments);

#endif
