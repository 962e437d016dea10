/*
 * DCFG files: the first octet selects how strictly they are read. A graph that was read answers all
 * queries and can be written. Its text reads again, and is then written identically.
 */
#include "formats/dcfg/dcfg_reader.h"
#include "formats/dcfg/dcfg_writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dcfg *read_graph(const void *text, size_t size, bool strict)
{
    struct dcfg_reader_settings settings = dcfg_reader_settings_default();
    struct bt_error error;
    settings.json.strict = strict;
    settings.json.text_max = 1 << 22;
    settings.graph.memory_max = 1 << 24;
    settings.graph.threads_max = 64; /* each edge is written with a count per thread */
    struct text_reader *reader = text_reader_from_memory(text, size, "input", &error);
    struct dcfg *graph = dcfg_read(reader, &settings, &error);
    if (!graph && strlen(error.message) == 0)
        abort();
    text_reader_close(reader);
    return graph;
}

/* Returns NULL if the graph cannot be written. */
static struct text_writer *write_graph(const struct dcfg *graph)
{
    const struct dcfg_writer_settings settings = {.several_processes = true};
    struct bt_error error;
    struct text_writer *writer = text_writer_new_memory(&error);
    if (dcfg_write_text(graph, writer, &settings, &error) == 0)
        return writer;
    if (error.code != BT_USAGE)
        abort();
    text_writer_free(writer);
    return NULL;
}

/* Makes all queries about edges. */
static void ask(const struct dcfg_process *process)
{
    for (uint32_t i = 0; i < process->edges.count; i++) {
        struct dcfg_counts counts = dcfg_edge_counts(process, i);
        while (dcfg_counts_next(&counts))
            if (counts.thread >= process->threads || counts.count == 0)
                abort();
        if (dcfg_find_edge(process, process->edges.ids[i]) != i)
            abort();
    }
    for (uint32_t i = 0; i < process->block_count; i++) {
        struct dcfg_range range = process->images[dcfg_image_of_block(process, i)].blocks;
        if (dcfg_find_block(process, process->blocks[i].id) != i || i < range.first ||
            i - range.first >= range.count)
            abort();
    }
}

static void write_twice(const struct dcfg *graph)
{
    struct text_writer *once = write_graph(graph);
    if (!once)
        return;
    size_t once_size, twice_size;
    const char *once_text = text_writer_memory(once, &once_size);
    struct dcfg *again = read_graph(once_text, once_size, true);
    if (!again)
        abort();
    struct text_writer *twice = write_graph(again);
    if (!twice)
        abort();
    const char *twice_text = text_writer_memory(twice, &twice_size);
    if (once_size != twice_size || memcmp(once_text, twice_text, once_size) != 0)
        abort();
    text_writer_free(twice);
    dcfg_free(again);
    text_writer_free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct dcfg *graph = read_graph(data + 1, size - 1, data[0] % 2);
    if (!graph)
        return 0;
    for (uint32_t i = 0; i < graph->process_count; i++)
        ask(graph->processes[i]);
    write_twice(graph);
    dcfg_free(graph);
    return 0;
}
