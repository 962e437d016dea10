#include "tools/dcfg/source_text.h"

#include "tools/common/source_file.h"

#include <stdbool.h>
#include <stdlib.h>

#define SOURCES_MAX (UINT64_C(1) << 30) /* bytes of all: a graph may name a file often */

struct named_file {
    struct source_file file;
    bool tried;
};

struct source_text {
    const struct dcfg *graph;
    struct named_file *files; /* by index of graph->file_names */
    uint64_t size;            /* of those that were read */
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
    for (uint32_t i = 0; i < source->graph->file_name_count; i++)
        source_file_clear(&source->files[i].file);
    free(source->files);
    free(source);
}

const char *source_text_line(struct source_text *source, uint32_t file, uint32_t line)
{
    struct named_file *at = &source->files[file];
    if (!at->tried) {
        at->tried = true;
        if (source->size < SOURCES_MAX)
            source->size += source_file_read(
                &at->file, dcfg_text(source->graph, source->graph->file_names[file].name));
    }
    return source_file_line(&at->file, line);
}
