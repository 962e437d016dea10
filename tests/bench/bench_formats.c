/*
 * Speed of writing and reading other programs' formats: one thread, records and input in memory,
 * output to /dev/null. For comparison: b2a's text written by the same means, and the classic b2a.
 *
 * usage: bench_formats [MILLION_RECORDS]     (4)
 */
#include "formats/foreign/foreign_sink.h"
#include "formats/foreign/foreign_source.h"
#include "formats/foreign/trace_format.h"
#include "formats/record/record_text.h"
#include "formats/text/text_writer.h"
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/yardstick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUNS  3
#define PIECE 16384u

struct bench {
    struct record *records;
    size_t count;
    char path[FOLDER_PATH_BYTES + 16];
    double yardstick; /* records a second of the classic b2a */
};

static int write_once(struct bench *bench, const struct trace_format *format, const char *path)
{
    const struct foreign_options options = {.clock_hz = 66666667};
    struct foreign_loss loss = {.taken = 0};
    struct sink *sink;
    struct bt_error error;
    uint64_t tick = 0;
    if (trace_format_create(&sink, format, path, &options, &loss, &error) < 0)
        return -1;
    for (size_t done = 0; done < bench->count; done += PIECE) {
        size_t some = bench->count - done < PIECE ? bench->count - done : PIECE;
        struct batch batch = {.records = bench->records + done,
                              .count = some,
                              .first_index = done,
                              .first_tick = tick};
        if (sink_put(sink, &batch, &error) < 0)
            return -1;
        tick += records_time(batch.records, some);
    }
    return sink_close(sink, &error);
}

/* Writes the text of b2a in pieces of the same size. */
static int write_classic(struct bench *bench)
{
    static char text[2048 * RECORD_TEXT_MAX_BYTES];
    struct bt_error error;
    struct text_writer *writer = text_writer_new("/dev/null", &error);
    int result = writer ? 0 : -1;
    for (size_t done = 0; done < bench->count && result == 0; done += 2048) {
        size_t some = bench->count - done < 2048 ? bench->count - done : 2048;
        size_t size = record_text_put(RECORD_TEXT_B2A, text, bench->records + done, some, done, 0);
        result = text_writer_put(writer, text, size, &error);
    }
    text_writer_free(writer);
    return result;
}

static int read_once(const char *path, const struct trace_format *format, size_t *records)
{
    static struct record buffer[PIECE];
    const struct foreign_options options = {.wrap = false};
    struct batch batch = {.records = buffer, .capacity = PIECE};
    struct source *source;
    struct bt_error error;
    int result;
    *records = 0;
    if (trace_format_open(&source, format->name, path, &options, &error) < 0)
        return -1;
    while ((result = source_next(source, &batch, -1, &error)) != 0)
        if (result == 1)
            *records += batch.count;
        else if (result != BT_NOTE)
            break;
    source_close(source);
    return result;
}

static void print_rate(const struct bench *bench, const char *what, size_t count, double seconds)
{
    double rate = (double)count / seconds;
    printf("  %-24s %8.1f million records/s, %6.1f times the classic b2a\n", what, rate / 1e6,
           rate / bench->yardstick);
}

static int bench_classic(struct bench *bench)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        struct measure measure;
        measure_begin(&measure);
        if (write_classic(bench) < 0)
            return -1;
        measure_end(&measure);
        best = measure.cpu < best ? measure.cpu : best;
    }
    print_rate(bench, "b2a's text, written", bench->count, best);
    return 0;
}

static int bench_format(struct bench *bench, const struct trace_format *format)
{
    double best_written = 1e9;
    double best_read = 1e9;
    size_t records = 0;
    char what[40];
    for (int run = 0; run < RUNS; run++) {
        struct measure written;
        struct measure read;
        measure_begin(&written);
        if (write_once(bench, format, "/dev/null") < 0)
            return -1;
        measure_end(&written);
        if (run == 0 && write_once(bench, format, bench->path) < 0)
            return -1;
        measure_begin(&read);
        if (read_once(bench->path, format, &records) < 0)
            return -1;
        measure_end(&read);
        best_written = written.cpu < best_written ? written.cpu : best_written;
        best_read = read.cpu < best_read ? read.cpu : best_read;
    }
    snprintf(what, sizeof what, "%s, written", format->name);
    print_rate(bench, what, bench->count, best_written);
    snprintf(what, sizeof what, "%s, read", format->name);
    print_rate(bench, what, records, best_read);
    return 0;
}

int main(int argument_count, char **arguments)
{
    struct bench bench = {.count =
                              (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 4) * 1000000};
    const char *shared = getenv("SHARED");
    char trace[4096];
    char folder[FOLDER_PATH_BYTES];
    bench.records = malloc((bench.count + 1) * sizeof *bench.records);
    bench.yardstick = yardstick_b2a_rate();
    if (!bench.records || bench.yardstick <= 0) {
        free(bench.records);
        return 3;
    }
    snprintf(trace, sizeof trace, "%s/data/pentium2.byu", shared ? shared : "../shared");
    printf("formats: %zu million records, %s; processor time of one thread\n"
           "  classic b2a: %.1f million records/s\n",
           bench.count / 1000000,
           large_trace_fill(bench.records, bench.count, trace) ? "a Pentium II trace enlarged"
                                                               : "made up",
           bench.yardstick / 1e6);
    folder_make(folder);
    snprintf(bench.path, sizeof bench.path, "%s/trace", folder);
    int result = bench_classic(&bench);
    const struct trace_format *format;
    for (size_t place = 0; result == 0 && (format = trace_format_at(place)); place++)
        result = bench_format(&bench, format);
    folder_remove(folder);
    free(bench.records);
    return result == 0 ? 0 : 3;
}
