/* The lines of a source file, for showing them. */
#ifndef TOOLS_COMMON_SOURCE_FILE_H
#define TOOLS_COMMON_SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed is empty. */
struct source_file {
    char *text;         /* lines end with NUL; NULL: not read */
    const char **lines; /* starts, without indentation */
    uint32_t count;
};

/* Reads a file. Returns its size; 0: it cannot be read, is empty or larger than 64 MiB, or is not a
 * regular file. */
size_t source_file_read(struct source_file *file, const char *path);
void source_file_clear(struct source_file *file);

/* A line, from 1 on: without blanks at its ends, tabs as blanks, control characters as '?'. NULL:
 * there is no such line. */
static inline const char *source_file_line(const struct source_file *file, uint32_t line)
{
    return line > 0 && line <= file->count ? file->lines[line - 1] : NULL;
}

#endif
