/* What programs of this machine list and read in tests: nothing that another process changes. */
#ifndef TESTS_SUPPORT_WORK_FOLDER_H
#define TESTS_SUPPORT_WORK_FOLDER_H

#include "tests/support/folder.h"

struct work_folder {
    char path[FOLDER_PATH_BYTES];
    int former; /* the working folder before */
};

/*
 * Makes a folder and changes to it: "listed" has empty files, folders and links of fixed times, and
 * "text" 20,000 bytes of lines. Aborts on failure. Leave it with work_folder_leave.
 */
void work_folder_enter(struct work_folder *folder);

/* Changes back, and removes the folder. */
void work_folder_leave(struct work_folder *folder);

#endif
