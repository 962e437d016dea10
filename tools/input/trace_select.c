#include "tools/input/trace_select.h"

#include "tools/input/trace_set.h"

/* Appends the file whose records follow. NULL and *error without memory. */
static struct trace_file *begin_file(struct trace_set *set, const char *path,
                                     const struct capture_info *info, struct bt_error *error)
{
    struct trace_file *file = trace_check_add(set, path, error);
    if (!file)
        return NULL;
    file->opened = true;
    file->kind = info ? TRACE_CAPTURE : TRACE_RAW;
    if (info)
        file->info = *info;
    return file;
}

/* Reads an input to its end. 0, BT_MEMORY or BT_USAGE. */
static int read_all(struct trace_set *set, const char *path, struct record_input *input,
                    struct input_report *report, struct tally *tally, struct bt_error *error)
{
    const struct batch *batch;
    struct trace_file *file = NULL;
    struct bt_error broken;
    int more;
    while ((more = record_input_next(input, &batch, &broken)) > 0) {
        if (!file || more == RECORD_INPUT_FILE)
            file = begin_file(set, path, record_input_info(input), error);
        if (!file)
            return BT_MEMORY;
        if (more == RECORD_INPUT_FILE)
            continue;
        trace_check_count(file, batch);
        tally_add(tally, batch->records, batch->count);
    }
    if (more == BT_USAGE) { /* such as times in seconds without a clock */
        *error = broken;
        return BT_USAGE;
    }
    if (more < 0)
        input_report_error(report, &broken);
    if (file)
        return 0;
    file = begin_file(set, path, NULL, error);
    if (file && more == BT_IO) /* it is opened with the first read */
        file->opened = false;
    return file ? 0 : BT_MEMORY;
}

static int select_path(struct trace_set *set, char *path,
                       const struct record_input_settings *settings, struct input_report *report,
                       struct tally *tally, struct bt_error *error)
{
    struct record_input_settings reading = *settings;
    struct record_input *input;
    reading.as_stored = true;
    reading.headers = true;
    reading.report = report;
    if (record_input_open(&input, 1, &path, &reading, error) < 0) {
        if (error->code == BT_USAGE)
            return BT_USAGE;
        input_report_error(report, error);
        return trace_check_add(set, record_input_name(path), error) ? 0 : BT_MEMORY;
    }
    int result = read_all(set, record_input_name(path), input, report, tally, error);
    record_input_close(input);
    return result;
}

int trace_select(struct trace_set *set, const struct input_paths *paths,
                 const struct record_input_settings *settings, struct input_report *report,
                 struct tally *tally, struct bt_error *error)
{
    int result = 0;
    for (int i = 0; i < paths->count && result == 0; i++)
        result = select_path(set, paths->paths[i], settings, report, tally, error);
    trace_set_sort(set);
    return result;
}
