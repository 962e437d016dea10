#include "tools/dcfg/graph_file.h"

#include "formats/base/quantity.h"
#include "formats/dcfg/dcfg_reader.h"
#include "tools/common/progress.h"

#include <inttypes.h>

struct graph_reading {
    struct progress progress;
    const char *name;
};

static void show(void *argument, uint64_t offset, uint64_t size)
{
    struct graph_reading *reading = argument;
    progress_show(&reading->progress, reading->name, offset, size);
}

struct dcfg *graph_file_read(const char *path, struct bt_error *error)
{
    return graph_file_read_with(path, NULL, error);
}

struct dcfg *graph_file_read_with(const char *path, const struct dcfg_reader_settings *settings,
                                  struct bt_error *error)
{
    struct text_reader *reader = text_reader_open(path, error);
    if (!reader)
        return NULL;
    struct graph_reading reading = {.name = text_reader_name(reader)};
    progress_begin(&reading.progress, true);
    text_reader_set_progress(reader, show, &reading);
    struct dcfg *graph = dcfg_read(reader, settings, error);
    progress_clear(&reading.progress);
    text_reader_close(reader);
    return graph;
}

struct dcfg_process *graph_file_process(const struct dcfg *graph, const char *path,
                                        const char *text, struct bt_error *error)
{
    if (graph->process_count == 0) {
        bt_fail(error, BT_DATA, "%s: there is no process in this graph", path);
        return NULL;
    }
    if (!text && graph->process_count == 1)
        return graph->processes[0];
    if (!text) {
        bt_fail(error, BT_USAGE,
                "%s: there are %" PRIu32 " processes, choose one with --process: %" PRIu64
                ", %" PRIu64 "%s",
                path, graph->process_count, graph->processes[0]->id, graph->processes[1]->id,
                graph->process_count > 2 ? ", ..." : "");
        return NULL;
    }
    uint64_t id;
    if (quantity_count(&id, text, error) < 0)
        return NULL;
    for (uint32_t i = 0; i < graph->process_count; i++)
        if (graph->processes[i]->id == id)
            return graph->processes[i];
    bt_fail(error, BT_USAGE, "%s: there is no process %" PRIu64 ", but %" PRIu64 "%s", path, id,
            graph->processes[0]->id, graph->process_count > 1 ? " and others" : "");
    return NULL;
}
