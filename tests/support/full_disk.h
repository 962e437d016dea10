/* A full disk: the program's writes to regular files fail with ENOSPC. Truncating a file frees its
 * space. */
#ifndef TESTS_SUPPORT_FULL_DISK_H
#define TESTS_SUPPORT_FULL_DISK_H

#include <stddef.h>

/* Limits the space to this number of bytes, for all threads. */
void full_disk_begin(size_t room);

/* Removes the limit. */
void full_disk_end(void);

#endif
