/* Reading and writing a program's memory where its pointers may be wrong: no fault, but an error.
 */
#ifndef CAPTURE_EXEC_MEMORY_PROGRAM_MEMORY_H
#define CAPTURE_EXEC_MEMORY_PROGRAM_MEMORY_H

#include "capture/exec/memory/space.h"

/* 0, or -EFAULT: not all of it is the program's and may be read, or written. */
int program_read(struct space *space, void *bytes, uint64_t address, size_t size);
int program_write(struct space *space, uint64_t address, const void *bytes, size_t size);

/* A string of less than capacity octets, its NUL included. 0, -EFAULT, or -ENAMETOOLONG. */
int program_read_string(struct space *space, char *string, uint64_t address, size_t capacity);

#endif
