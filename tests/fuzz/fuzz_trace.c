/* Everything that opens a trace, on any bytes: as a file, and from any record. */
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
    test_path_free(path);
    return 0;
}
