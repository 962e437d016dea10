#include "tools/common/source_file.h"

#include "formats/base/file_io.h"
#include "formats/base/printable.h"
#include "formats/base/regular_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_BYTES_MAX (64 << 20)

/* The content of a regular file, with a NUL at its end; NULL: it cannot be read. The name may be
 * that of anything, such as a pipe. */
static char *read_text(const char *path, size_t *size)
{
    struct stat status;
    char *text = NULL;
    int file = regular_file_open(path, NULL);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size > 0 && status.st_size <= SOURCE_BYTES_MAX)
        text = malloc((size_t)status.st_size + 1);
    ssize_t got = text ? file_read_at(file, text, (size_t)status.st_size, 0) : -1;
    close(file);
    if (got < 0) {
        free(text);
        return NULL;
    }
    *size = (size_t)got;
    text[got] = '\0';
    return text;
}

/* Makes a line fit to be shown. Returns where it begins. */
static const char *clean(char *line, char *end)
{
    while (end > line && strchr(" \t\r\f", end[-1]))
        *--end = '\0';
    for (char *at = line; at < end; at++)
        if (*at == '\t' || *at == '\0')
            *at = ' ';
    printable_make(line);
    return line + strspn(line, " ");
}

static void cut(struct source_file *file, size_t size)
{
    char *at = file->text;
    char *end = file->text + size;
    uint32_t count = 0;
    for (const char *c = at; c < end; c++)
        count += *c == '\n';
    file->lines = malloc(((size_t)count + 1) * sizeof *file->lines);
    while (file->lines && at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        char *stop = newline ? newline : end;
        *stop = '\0';
        file->lines[file->count++] = clean(at, stop);
        at = stop + 1;
    }
}

size_t source_file_read(struct source_file *file, const char *path)
{
    size_t size = 0;
    file->text = read_text(path, &size);
    if (file->text)
        cut(file, size);
    return size;
}

void source_file_clear(struct source_file *file)
{
    free(file->text);
    free(file->lines);
    *file = (struct source_file){.text = NULL};
}
