/* Reads a graph from a fuzzer's input. */
#ifndef TESTS_FUZZ_READ_GRAPH_H
#define TESTS_FUZZ_READ_GRAPH_H

#include "formats/dcfg/dcfg_reader.h"

#include <stdlib.h>

#define READ_GRAPH_MEMORY ((size_t)1 << 24)

/* Returns NULL if size bytes at text are not a graph within the limits. */
static inline struct dcfg *read_graph(const void *text, size_t size, bool strict,
                                      uint32_t threads_max)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error = {0};
    settings.json.strict = strict;
    settings.json.text_max = 1 << 22;
    settings.graph.memory_max = READ_GRAPH_MEMORY;
    settings.graph.threads_max = threads_max;
    struct text_reader *reader = text_reader_from_memory(text, size, "input", &error);
    struct dcfg *graph = dcfg_read(reader, &settings, &error);
    if (!graph && error.message[0] == '\0')
        abort();
    text_reader_close(reader);
    return graph;
}

#endif
