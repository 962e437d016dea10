/*
 * Checks graphs and traces: the first octet selects how strictly they are read; the graph ends with
 * the first NUL, and the trace follows. A check ends in bounded time whatever the counts in them,
 * every failure has a message and a place, and a second check gives the same result.
 */
#include "tests/fuzz/read_graph.h"
#include "tools/dcfg/graph/check.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks a trace; -1 if it exceeds a limit. */
static int check_text(struct check *check, const struct dcfg *graph, const void *text, size_t size,
                      bool strict)
{
    struct dcfg_trace_reader_settings settings = dcfg_trace_reader_settings_default();
    struct bt_error read_error, error;
    settings.json.strict = strict;
    settings.dictionary_max = settings.table_max = settings.sequence_max = READ_GRAPH_MEMORY;
    struct text_reader *reader = text_reader_from_memory(text, size, "trace", &error);
    struct dcfg_trace_reader *trace = dcfg_trace_reader_new(reader, &settings, &read_error);
    int result = trace ? check_trace(check, graph, trace, &read_error, &error) : BT_MEMORY;
    /* BT_IO: an unsupported compression */
    if (result < 0 && result != BT_USAGE && result != BT_MEMORY && result != BT_IO)
        abort();
    dcfg_trace_reader_free(trace);
    text_reader_close(reader);
    return result;
}

static void look_at(const struct check *check)
{
    size_t kept;
    const struct check_failure *failures = check_failures(check, &kept);
    if (kept > check_total(check))
        abort();
    for (size_t i = 0; i < kept; i++)
        if (failures[i].rule >= CHECK_RULES || strlen(failures[i].message) == 0 ||
            (failures[i].rule != CHECK_TRACE_FORMAT && strlen(failures[i].path) == 0))
            abort();
}

/* Returns the number of failures. */
static uint64_t check_once(const struct dcfg *graph, const char *trace, size_t size, bool strict)
{
    const struct check_settings settings = {
        .failures_max = 20, .memory_max = READ_GRAPH_MEMORY, .trace_edges_max = 200000};
    struct bt_error error;
    struct check *check = check_new(&settings, &error);
    if (!check)
        return 0;
    if (check_graph(check, graph, &error) == 0 && trace)
        check_text(check, graph, trace, size, strict);
    look_at(check);
    uint64_t total = check_total(check);
    check_free(check);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    bool strict = data[0] % 2;
    const char *text = (const char *)data + 1;
    const char *nul = memchr(text, '\0', size - 1);
    size_t graph_size = nul ? (size_t)(nul - text) : size - 1;
    struct dcfg *graph = read_graph(text, graph_size, strict, 4096);
    if (!graph)
        return 0;
    const char *trace = nul ? nul + 1 : NULL;
    size_t trace_size = nul ? size - 1 - graph_size - 1 : 0;
    if (check_once(graph, trace, trace_size, strict) !=
        check_once(graph, trace, trace_size, strict))
        abort();
    dcfg_free(graph);
    return 0;
}
