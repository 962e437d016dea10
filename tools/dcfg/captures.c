#include "tools/dcfg/captures.h"

#include "formats/capture_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Records without blocks come in pieces that stay in the processor's nearest cache. */
#define RECORDS_RAW 4096u

/* A file and what its order depends on. */
struct file {
    const char *path;
    struct capture_info info; /* zero where there is no header */
    int capture;              /* the first file given that is of the same one */
    int given;                /* its own place */
};

/* --- order --- */

static int check_readable_again(const char *path, struct bt_error *error)
{
    struct stat status;
    bool pipe = strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    if (pipe)
        return bt_fail(error, BT_USAGE,
                       "a trace needs the capture twice, and %s can be read once: save it to a "
                       "file first",
                       strcmp(path, "-") == 0 ? "standard input" : path);
    return 0;
}

static int read_header(struct file *file, bool lp64, struct bt_error *error)
{
    struct trace_reader *reader;
    if (strcmp(file->path, "-") == 0)
        return 0;
    struct stat status;
    if (stat(file->path, &status) == 0 && S_ISFIFO(status.st_mode))
        return 0; /* what is read of it now is gone */
    int result = trace_reader_open(&reader, file->path, lp64, error);
    if (result != 0)
        return result;
    const struct capture_info *info = source_info(trace_reader_source(reader));
    if (info)
        file->info = *info;
    source_close(trace_reader_source(reader));
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct file *a = left;
    const struct file *b = right;
    if (a->capture != b->capture)
        return a->capture < b->capture ? -1 : 1;
    if (a->info.file_number != b->info.file_number)
        return a->info.file_number < b->info.file_number ? -1 : 1;
    return a->given < b->given ? -1 : a->given > b->given;
}

static int order(struct file *files, int count, char **paths, bool again, bool lp64,
                 struct bt_error *error)
{
    for (int i = 0; i < count; i++) {
        files[i] = (struct file){.path = paths[i], .capture = i, .given = i};
        int result = again ? check_readable_again(paths[i], error) : 0;
        if (result == 0)
            result = read_header(&files[i], lp64, error);
        if (result != 0)
            return result;
        for (int j = 0; j < i && files[i].capture == i; j++)
            if (capture_info_same_capture(&files[i].info, &files[j].info))
                files[i].capture = files[j].capture;
    }
    qsort(files, (size_t)count, sizeof *files, compare);
    return 0;
}

int captures_order(struct captures *captures, int count, char **paths, bool again, bool lp64,
                   struct bt_error *error)
{
    struct file *files = calloc((size_t)count + 1, sizeof *files);
    *captures = (struct captures){calloc((size_t)count + 1, sizeof *captures->paths), count};
    int result;
    if (files && captures->paths)
        result = order(files, count, paths, again, lp64, error);
    else
        result = bt_fail(error, BT_MEMORY, "no memory for %d files", count);
    for (int i = 0; i < count && result == 0; i++)
        captures->paths[i] = files[i].path;
    free(files);
    return result;
}

void captures_free(struct captures *captures)
{
    free(captures->paths);
}

/* --- reading --- */

struct feed {
    struct sink sink;
    struct build *build;
    struct trace_reader *reader;
    bool begun; /* a header was met, or records without one */
};

static int feed_put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct feed *feed = (struct feed *)sink;
    if (!feed->begun)
        build_file(feed->build, source_info(trace_reader_source(feed->reader)));
    feed->begun = true;
    return build_put(feed->build, batch, error);
}

static const struct sink_operations feed_operations = {feed_put, NULL};

static void feed_member(void *context, const struct capture_member *member)
{
    struct feed *feed = context;
    if (member->kind != CAPTURE_MEMBER_HEADER)
        return;
    build_file(feed->build, &member->info);
    feed->begun = true;
}

/* What is damaged is told in the first pass. A file that cannot be read on ends it all: what is
 * missing then is more than a hole. */
static int pull(struct feed *feed, struct transfer *transfer, const char *path, bool told,
                struct bt_error *error)
{
    struct batch *batch = &transfer->batch;
    size_t capacity = batch->capacity;
    int result;
    if (trace_reader_kind(feed->reader) != TRACE_CAPTURE && capacity > RECORDS_RAW)
        batch->capacity = RECORDS_RAW;
    while ((result = source_next(trace_reader_source(feed->reader), batch, -1, error)) != 0) {
        if ((result == BT_DATA || result == BT_NOTE) && !told)
            transfer_tell(transfer, error);
        if (result == BT_DATA || result == BT_NOTE)
            continue;
        if (result == 1)
            result = sink_put(&feed->sink, batch, error);
        if (result < 0)
            break;
        progress_show(&transfer->progress, path, trace_reader_offset(feed->reader),
                      trace_reader_size(feed->reader));
    }
    batch->capacity = capacity;
    return result;
}

int captures_read(const struct captures *captures, struct transfer *transfer, struct build *build,
                  bool told, struct bt_error *error)
{
    int result = 0;
    for (int i = 0; i < captures->count && result == 0; i++) {
        const char *path = captures->paths[i];
        struct feed feed = {.sink = {&feed_operations}, .build = build};
        result = trace_reader_open(&feed.reader, path, transfer->lp64, error);
        if (result != 0)
            return result;
        trace_reader_watch(feed.reader, feed_member, &feed);
        result = pull(&feed, transfer, path, told, error);
        source_close(trace_reader_source(feed.reader));
    }
    return result;
}
