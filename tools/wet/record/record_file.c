#include "tools/wet/record/record_file.h"

#include "tools/common/own_stream.h"

#include <unistd.h>

int record_file_begin(struct record_file *file, const char *path, const struct wet_header *header,
                      struct bt_error *error)
{
    struct own_signals signals;
    int result = own_stream_empty(file->stream, path, error);
    if (result < 0)
        return result;
    own_stream_hold(&signals);
    file->writer = wet_writer_new(fileno(file->stream), header, error);
    own_stream_release(&signals);
    return file->writer ? 0 : error->code;
}

void record_file_clear(struct record_file *file)
{
    wet_writer_free(file->writer);
    if (file->stream)
        fclose(file->stream);
    *file = (struct record_file){.stream = NULL};
}

/* Removes the closing member: recording has continued. */
static int reopen(struct record_file *file, struct bt_error *error)
{
    const int descriptor = fileno(file->stream);
    const uint64_t before = file->unclosed;
    const off_t at = before == 0 ? -1 : lseek(descriptor, 0, SEEK_CUR);
    const uint64_t closing = wet_writer_bytes(file->writer) - file->dropped - before;
    file->unclosed = 0;
    if (at < 0 || (uint64_t)at < closing)
        return 0;
    if (ftruncate(descriptor, at - (off_t)closing) != 0 ||
        lseek(descriptor, at - (off_t)closing, SEEK_SET) < 0)
        return bt_fail_errno(error, "cannot continue the WET file");
    file->dropped += closing;
    return 0;
}

int record_file_put(void *context, struct wet_code *code, const struct wet_chunk *chunk,
                    uint64_t instructions, struct bt_error *error)
{
    struct record_file *file = context;
    struct own_signals signals;
    own_stream_hold(&signals);
    int result = reopen(file, error);
    if (result == 0)
        result = wet_writer_put(file->writer, code, chunk, instructions, error);
    own_stream_release(&signals);
    return result;
}

int record_file_close(void *context, const struct wet_closing *closing, struct bt_error *error)
{
    struct record_file *file = context;
    struct own_signals signals;
    own_stream_hold(&signals);
    int result = reopen(file, error);
    file->unclosed = record_file_bytes(file);
    if (result == 0)
        result = wet_writer_close(file->writer, closing, error);
    own_stream_release(&signals);
    return result;
}

uint64_t record_file_bytes(const struct record_file *file)
{
    return file->writer ? wet_writer_bytes(file->writer) - file->dropped : 0;
}
