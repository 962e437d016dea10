/*
 * read(2) and write(2) that handle signals, partial writes and descriptors that another program has
 * made non-blocking (O_NONBLOCK belongs to the open file, which a terminal or pipe shares with
 * other programs).
 */
#ifndef FORMATS_BASE_FILE_IO_H
#define FORMATS_BASE_FILE_IO_H

#include <stddef.h>
#include <sys/types.h>

/* One read of up to size bytes, which waits until bytes are available. Returns their number, 0 at
 * the end, or -1 with errno. */
ssize_t file_read(int file, void *bytes, size_t size);

/* Writes all size bytes; *done, unless NULL, is the number written, also on failure. 0, or -1 with
 * errno. */
int file_write(int file, const void *bytes, size_t size, size_t *done);

/* The same at an offset of a seekable file. */
ssize_t file_read_at(int file, void *bytes, size_t size, off_t offset);
int file_write_at(int file, const void *bytes, size_t size, off_t offset);

#endif
