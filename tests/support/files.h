/* Bytes as files and pipes, for tests of what opens paths. */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stddef.h>
#include <stdint.h>

/*
 * A path under which these bytes can be opened, as a regular file or as a pipe (written by a thread
 * of its own). Ends the program if it cannot be made. Forget it with test_path_free.
 */
struct test_path;
struct test_path *test_path_file(const void *bytes, size_t size);
struct test_path *test_path_pipe(const void *bytes, size_t size);
const char *test_path_name(const struct test_path *path);
void test_path_free(struct test_path *path);

#endif
