/* A disk that is full: what the program writes to regular files then ends in ENOSPC. What it cuts
 * off from files is room again. */
#ifndef TESTS_SUPPORT_FULL_DISK_H
#define TESTS_SUPPORT_FULL_DISK_H

#include <stddef.h>

/* From now on there is room for so many bytes. All threads. */
void full_disk_begin(size_t room);

/* There is all the room again. */
void full_disk_end(void);

#endif
