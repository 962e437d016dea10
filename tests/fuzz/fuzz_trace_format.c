/*
 * Every reader of other programs' formats, on any bytes. The first byte selects the format and its
 * options. The records read are written in the same format.
 */
#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"
#include "formats/foreign/trace_format.h"
#include "formats/text/text_writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BATCH_RECORDS 1000u
#define RECORDS_MAX   20000u

/* Reads to the end, which must come after a number of calls that the size of the data limits.
 * Returns the number of elements in records. */
static size_t read_all(struct record *records, const struct foreign_decoder *decoder,
                       const uint8_t *data, size_t size, const struct foreign_options *options)
{
    struct source *source;
    struct bt_error error;
    struct record buffer[BATCH_RECORDS];
    struct batch batch = {.records = buffer, .capacity = BATCH_RECORDS};
    size_t count = 0;
    if (foreign_source_open_memory(&source, decoder, data, size, options, &error) < 0)
        return 0;
    /* bzip2 expands a few bytes to a million, and every line of two bytes can be an error */
    for (uint64_t calls = 0;; calls++) {
        int result = source_next(source, &batch, -1, &error);
        if (result == 0 || (result < 0 && result != BT_DATA && result != BT_NOTE))
            break;
        if (result > 0 && (batch.count == 0 || batch.count > BATCH_RECORDS))
            abort();
        for (size_t i = 0; result > 0 && i < batch.count && count < RECORDS_MAX; i++)
            records[count++] = buffer[i];
        if (calls > 100 + 1000 * size)
            abort();
        if (count == RECORDS_MAX)
            break;
    }
    source_close(source);
    return count;
}

static struct text_writer *no_writer(void)
{
    return text_writer_new("/dev/null", NULL);
}

/* Any records can be written. */
static void write_all(const struct foreign_encoder *encoder, struct record *records, size_t count,
                      const struct foreign_options *options)
{
    struct sink *sink;
    struct bt_error error;
    struct text_writer *writer = no_writer();
    if (!writer || foreign_sink_new_into(&sink, encoder, writer, options, NULL, &error) < 0)
        return;
    struct batch batch = {.records = records, .count = count, .capacity = count};
    if (sink_put(sink, &batch, &error) < 0)
        abort();
    if (sink_close(sink, &error) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct record records[RECORDS_MAX];
    if (size == 0)
        return 0;
    const struct trace_format *format = trace_format_at(data[0] & 15);
    const struct foreign_options options = {.wrap = (data[0] & 16) != 0,
                                            .sizes = (data[0] & 32) != 0,
                                            .object_size = data[0] & 64 ? 16 : 0,
                                            .time_unit = data[0] & 128 ? 1000 : 0,
                                            .clock_hz = data[0] & 128 ? 66666667 : 0};
    if (!format || !format->decoder)
        return 0;
    size_t count = read_all(records, format->decoder, data + 1, size - 1, &options);
    write_all(format->encoder, records, count, &options);
    return 0;
}
