/* Reads and writes the memory of a program at addresses that may be invalid: an invalid address is
 * an error, not a fault. */
#ifndef CAPTURE_EXEC_MEMORY_PROGRAM_MEMORY_H
#define CAPTURE_EXEC_MEMORY_PROGRAM_MEMORY_H

#include "capture/exec/memory/space.h"

/* 0, or -EFAULT: part of the range is not the program's, or may not be read or written. */
int program_read(struct space *space, void *bytes, uint64_t address, size_t size);
int program_write(struct space *space, uint64_t address, const void *bytes, size_t size);

/* Reads a string of at most capacity bytes with its NUL. 0, -EFAULT, or -ENAMETOOLONG. */
int program_read_string(struct space *space, char *string, uint64_t address, size_t capacity);

#endif
