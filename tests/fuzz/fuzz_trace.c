/* Everything that opens a trace, on any bytes: as a file, and from any record. */
#include "formats/capture/capture_file.h"
#include "formats/capture/trace_reader.h"
#include "tests/support/files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BATCH_RECORDS 1000u

/* Reads to the end, which must come after a number of calls that the number of bytes limits. */
static void read_all(struct source *source, size_t size)
{
    static struct record records[BATCH_RECORDS];
    struct batch batch = {.records = records, .capacity = BATCH_RECORDS};
    struct bt_error error;
    /* deflate makes at most 1,032 bytes of one: 86 records */
    for (size_t calls = 0; calls < 100 + 100 * size; calls++) {
        int result = source_next(source, &batch, -1, &error);
        if (result == 0 || (result < 0 && result != BT_DATA && result != BT_NOTE))
            return;
        if (result > 0 && batch.count > BATCH_RECORDS)
            abort();
    }
    abort();
}

/* Passes, takes and reads members in turns, up to the end. */
static void walk_members(struct trace_reader *reader, size_t size)
{
    static struct record records[CAPTURE_MEMBER_RECORDS_MAX];
    struct batch batch = {.records = records, .capacity = CAPTURE_MEMBER_RECORDS_MAX};
    struct capture_member member;
    const uint8_t *bytes;
    trace_reader_keep_parts(reader); /* batches then are whole members */
    for (size_t calls = 0; calls < 100 + size; calls++) {
        int result = trace_reader_peek_member(reader, &member, NULL);
        if (result == 0 || result == BT_IO)
            return;
        if (result != 1)
            continue;
        if (calls % 3 == 0)
            (void)trace_reader_pass_member(reader, &member, NULL);
        else if (calls % 3 == 1 && trace_reader_take_member(reader, &member, &bytes, NULL) == 1 &&
                 bytes[0] != 0x1f)
            abort();
        else if (calls % 3 == 2)
            (void)source_next(trace_reader_source(reader), &batch, -1, NULL);
    }
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct test_path *path = test_path_file(data, size);
    for (unsigned reading = 0; reading <= (TRACE_LP64 | TRACE_INSIST); reading++) {
        const bool lp64 = reading & TRACE_LP64;
        struct trace_reader *reader;
        if (trace_reader_open(&reader, test_path_name(path), reading, NULL) < 0)
            continue;
        if (lp64 && size > 0)
            trace_reader_seek(reader, data[0], NULL);
        read_all(trace_reader_source(reader), size);
        if (!lp64 && trace_reader_seek(reader, size / 24, NULL) == 0)
            read_all(trace_reader_source(reader), size);
        source_close(trace_reader_source(reader));
    }
    struct trace_reader *reader;
    if (trace_reader_open(&reader, test_path_name(path), TRACE_INSIST, NULL) == 0) {
        if (trace_reader_kind(reader) == TRACE_CAPTURE)
            walk_members(reader, size);
        source_close(trace_reader_source(reader));
    }
    test_path_free(path);
    return 0;
}
