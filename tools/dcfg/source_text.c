#include "tools/dcfg/source_text.h"

#include "formats/base/file_io.h"
#include "formats/base/printable.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCE_BYTES_MAX (64 << 20)          /* of a file */
#define SOURCES_MAX      (UINT64_C(1) << 30) /* of all: a graph may name a file often */

struct source_file {
    char *text;         /* lines end with NUL; NULL: not read */
    const char **lines; /* starts, without indentation */
    uint32_t count;
    bool tried;
};

struct source_text {
    const struct dcfg *graph;
    struct source_file *files; /* by index of graph->file_names */
    uint64_t size;             /* of those that were read */
};

struct source_text *source_text_new(const struct dcfg *graph, struct bt_error *error)
{
    struct source_text *source = calloc(1, sizeof *source);
    if (source) {
        source->graph = graph;
        source->files = calloc((size_t)graph->file_name_count + 1, sizeof *source->files);
        if (source->files)
            return source;
    }
    free(source);
    bt_fail(error, BT_MEMORY, "no memory for source files");
    return NULL;
}

void source_text_free(struct source_text *source)
{
    if (!source)
        return;
    for (uint32_t i = 0; i < source->graph->file_name_count; i++) {
        free(source->files[i].text);
        free(source->files[i].lines);
    }
    free(source->files);
    free(source);
}

/* The content of a regular file, with a NUL at its end; NULL: it cannot be read. A graph may name
 * anything, such as a pipe. */
static char *read_text(const char *path, size_t *size)
{
    struct stat status;
    char *text = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        status.st_size <= SOURCE_BYTES_MAX)
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

const char *source_text_line(struct source_text *source, uint32_t file, uint32_t line)
{
    struct source_file *at = &source->files[file];
    size_t size = 0;
    if (!at->tried) {
        at->tried = true;
        if (source->size < SOURCES_MAX)
            at->text =
                read_text(dcfg_text(source->graph, source->graph->file_names[file].name), &size);
        if (at->text) {
            source->size += size;
            cut(at, size);
        }
    }
    return line > 0 && line <= at->count ? at->lines[line - 1] : NULL;
}
