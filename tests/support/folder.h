/* Folders for tests that write files. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#define FOLDER_PATH_BYTES 256u

/* Makes a new empty folder, in memory if the machine has a file system there; aborts on failure. */
void folder_make(char path[FOLDER_PATH_BYTES]);

/* The same in $TMPDIR or /tmp: some machines do not execute programs from memory. */
void folder_make_for_programs(char path[FOLDER_PATH_BYTES]);

/* Removes the folder with its contents. */
void folder_remove(const char *path);

/* Names in the folder with this ending, sorted; free them with folder_list_free. */
struct folder_list {
    char **names;
    size_t count;
};
struct folder_list folder_list(const char *path, const char *ending);
void folder_list_free(struct folder_list *list);

#endif
