#include "tools/dcfg/trace_file.h"

static void show(void *argument, uint64_t offset, uint64_t size)
{
    struct dcfg_trace_file *file = argument;
    if (file->edges == 0)
        progress_show(&file->progress, text_reader_name(file->text), offset, size);
}

void dcfg_trace_file_count(struct dcfg_trace_file *file, uint64_t count, uint64_t edges)
{
    file->edges_done += count;
    file->edges = edges;
    if (edges > 0)
        progress_show(&file->progress, text_reader_name(file->text), file->edges_done, edges);
}

int dcfg_trace_file_open(struct dcfg_trace_file *file, const char *path, uint64_t memory_max,
                         bool strict, bool quiet_output, struct bt_error *error)
{
    struct dcfg_trace_reader_settings settings = dcfg_trace_reader_settings_default();
    *file = (struct dcfg_trace_file){.text = text_reader_open(path, error)};
    if (!file->text)
        return error->code;
    if (memory_max > SIZE_MAX)
        memory_max = SIZE_MAX;
    settings.json.strict = strict;
    settings.table_max = (size_t)memory_max;
    settings.dictionary_max = settings.sequence_max = (size_t)memory_max / 4;
    progress_begin(&file->progress, quiet_output);
    text_reader_set_progress(file->text, show, file);
    file->reader = dcfg_trace_reader_new(file->text, &settings, &file->error);
    if (file->reader)
        return 0;
    *error = file->error;
    return error->code;
}

void dcfg_trace_file_close(struct dcfg_trace_file *file)
{
    progress_clear(&file->progress);
    dcfg_trace_reader_free(file->reader);
    if (file->text)
        text_reader_close(file->text);
    *file = (struct dcfg_trace_file){.text = NULL};
}
