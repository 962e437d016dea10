/* Bytes as files and pipes, for tests of code that opens paths. */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes a path at which these bytes can be read, a regular file or a pipe (written by a separate
 * thread). Ends the program on failure. Free it with test_path_free.
 */
struct test_path;
struct test_path *test_path_file(const void *bytes, size_t size);
struct test_path *test_path_pipe(const void *bytes, size_t size);
const char *test_path_name(const struct test_path *path);
void test_path_free(struct test_path *path);

#endif
