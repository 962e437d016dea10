#include "tests/e2e/step/record_file.h"

#include "formats/capture/capture_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct record_file {
    int fd;
    bool raw;
    uint64_t records;
    struct batch batch; /* not written yet */
    uint8_t *bytes;
    struct record_encoder *encoder;
    struct capture_writer *writer;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int start(struct record_file *file, const char *path, struct bt_error *error)
{
    struct capture_info info = {.board = "ptrace", .bus = "single steps", .file_number = 1};
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return bt_fail_errno(error, "%s", path);
    file->batch.capacity = CAPTURE_BLOCK_RECORDS;
    file->batch.records = malloc(CAPTURE_BLOCK_RECORDS * sizeof(struct record));
    file->bytes = malloc(capture_data_member_bound(CAPTURE_BLOCK_RECORDS));
    if (!file->batch.records || !file->bytes)
        return bt_fail(error, BT_MEMORY, "no memory for records");
    if (file->raw)
        return 0;
    info.started_ns = info.file_started_ns = now_ns();
    bytes_put64(info.id, (uint64_t)info.started_ns);
    bytes_put64(info.id + 8, (uint64_t)getpid());
    file->encoder = record_encoder_new(RECORD_ENGINE_BEST, -1, error);
    if (file->encoder)
        file->writer = capture_writer_new(file->fd, path, &info, error);
    return file->writer ? 0 : error->code;
}

struct record_file *record_file_new(const char *path, bool raw, struct bt_error *error)
{
    struct record_file *file = calloc(1, sizeof *file);
    if (!file) {
        bt_fail(error, BT_MEMORY, "no memory for a file");
        return NULL;
    }
    file->raw = raw;
    if (start(file, path, error) == 0)
        return file;
    record_file_free(file);
    return NULL;
}

static int write_raw(struct record_file *file, struct bt_error *error)
{
    size_t size = file->batch.count * RECORD_BYTES;
    records_put(file->bytes, file->batch.records, file->batch.count);
    for (size_t at = 0; at < size;) {
        ssize_t written = write(file->fd, file->bytes + at, size - at);
        if (written < 0 && errno != EINTR)
            return bt_fail_errno(error, "writing records");
        at += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Writes the pending records; record number n is at tick n. */
static int flush(struct record_file *file, struct bt_error *error)
{
    struct batch *batch = &file->batch;
    size_t size;
    int result = 0;
    if (batch->count == 0)
        return 0;
    batch->first_index = file->records - batch->count;
    batch->first_tick = batch->first_index;
    batch->last_tick = file->records - 1;
    batch->lost.first_tick = batch->lost.last_tick = batch->first_tick;
    batch->host_time_ns = now_ns();
    if (file->raw)
        result = write_raw(file, error);
    else
        result = capture_put_data_member(file->encoder, batch, file->bytes,
                                         capture_data_member_bound(batch->capacity), &size, error);
    if (result == 0 && !file->raw)
        result = capture_writer_put(file->writer, file->bytes, size, batch, error);
    batch->count = 0;
    return result;
}

int record_file_put(struct record_file *file, struct record record, struct bt_error *error)
{
    record.time = file->records > 0;
    file->batch.records[file->batch.count++] = record;
    file->records++;
    return file->batch.count == file->batch.capacity ? flush(file, error) : 0;
}

int record_file_close(struct record_file *file, uint64_t above_4gib, struct bt_error *error)
{
    int result = flush(file, error);
    if (result != 0 || file->raw)
        return result;
    struct capture_totals totals = {
        .end = CAPTURE_END_SOURCE,
        .final = true,
        .capture_records = file->records,
        .last_tick = file->records > 0 ? file->records - 1 : 0,
        .source = {.known = true,
                   .seen = file->records + above_4gib,
                   .accepted = file->records,
                   .above_4gib = above_4gib},
        .ended_ns = now_ns(),
    };
    return capture_writer_close(file->writer, &totals, error);
}

void record_file_free(struct record_file *file)
{
    if (!file)
        return;
    capture_writer_free(file->writer);
    record_encoder_free(file->encoder);
    free(file->batch.records);
    free(file->bytes);
    if (file->fd >= 0)
        close(file->fd);
    free(file);
}
