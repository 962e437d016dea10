#include "tools/dcfg/captures_read.h"

#include "formats/capture_file.h"

/* Records without blocks come in pieces that stay in the processor's nearest cache. */
#define RECORDS_RAW 4096u

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
