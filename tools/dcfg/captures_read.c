#include "tools/dcfg/captures_read.h"

#include "formats/capture/capture_file.h"

/* Records without blocks come in pieces that stay in the processor's nearest cache. */
#define RECORDS_RAW 4096u

struct feed {
    struct sink sink;
    struct build *build;
    struct trace_reader *reader;
    bool begun; /* a header was met, or records without one */
    bool concatenate;
    struct captures_seam *seam; /* the file before, and then this one */
    const char *path;
    struct bt_error met; /* with a header; code 0: nothing */
};

/* Another file begins; what is wrong with that is in feed->met. */
static void join(struct feed *feed, const struct capture_info *info)
{
    const struct captures_seam before = *feed->seam;
    if (captures_join(feed->seam, info, feed->path, feed->concatenate, &feed->met) >= 0)
        captures_check_numbers(&before, feed->seam, &feed->met);
}

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
    if (member->kind != CAPTURE_MEMBER_HEADER || feed->met.code != 0)
        return;
    join(feed, &member->info);
    build_file(feed->build, &member->info);
    feed->begun = true;
}

/* Tells what was met with a header. 0, or why it ends the reading. */
static int tell_met(struct feed *feed, struct transfer *transfer, bool told, struct bt_error *error)
{
    const struct bt_error met = feed->met;
    feed->met.code = 0;
    if (met.code == BT_DATA && !told)
        transfer_tell(transfer, &met);
    if (met.code == 0 || met.code == BT_DATA)
        return 0;
    *error = met;
    return met.code;
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
        const int met = tell_met(feed, transfer, told, error);
        if (met < 0) {
            result = met;
            break;
        }
        if ((result == BT_DATA || result == BT_NOTE) && !told)
            transfer_tell_input(transfer, error);
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
    transfer_end_file(transfer, path);
    return result;
}

int captures_read(const struct captures *captures, bool concatenate, struct transfer *transfer,
                  struct build *build, bool told, struct bt_error *error)
{
    struct captures_seam seam = {.path = NULL};
    int result = 0;
    for (int i = 0; i < captures->count && result == 0; i++) {
        struct feed feed = {.sink = {&feed_operations},
                            .build = build,
                            .concatenate = concatenate,
                            .seam = &seam,
                            .path = captures->paths[i]};
        result = trace_reader_open(&feed.reader, feed.path, transfer->reading, error);
        if (result != 0)
            return result;
        join(&feed, source_info(trace_reader_source(feed.reader)));
        trace_reader_watch(feed.reader, feed_member, &feed);
        result = tell_met(&feed, transfer, told, error);
        if (result == 0)
            result = pull(&feed, transfer, feed.path, told, error);
        source_close(trace_reader_source(feed.reader));
    }
    return result;
}
