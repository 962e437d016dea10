/*
 * DCFG files: the first octet selects how strictly they are read. A graph that was read answers all
 * queries and can be written. Its text reads again, and is then written identically.
 */
#include "formats/dcfg/dcfg_writer.h"
#include "tests/fuzz/read_graph.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define THREADS_MAX 64 /* each edge is written with a count per thread */

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
    struct dcfg *again = read_graph(once_text, once_size, true, THREADS_MAX);
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
    struct dcfg *graph = read_graph(data + 1, size - 1, data[0] % 2, THREADS_MAX);
    if (!graph)
        return 0;
    for (uint32_t i = 0; i < graph->process_count; i++)
        ask(graph->processes[i]);
    write_twice(graph);
    dcfg_free(graph);
    return 0;
}
