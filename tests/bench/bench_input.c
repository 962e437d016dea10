/*
 * How fast records come to a study: from a raw file and from a capture's compressed files, read and
 * decompressed by a thread of their own, and looked at by another.
 *
 * usage: bench_input [MILLION_RECORDS]     (16)
 */
#include "formats/record/reference.h"
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/raw_capture.h"
#include "tools/input/record_input.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS 3

/* Looks at every record, as a study must: what it is, and where. */
static uint64_t look(const struct record *records, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += reference_kind_of(records[i].type) + records[i].address;
    return sum;
}

static int read_through(char *path, size_t wanted, struct measure *measure)
{
    const struct record_input_settings settings = {.count = UINT64_MAX};
    struct record_input *input;
    struct bt_error error;
    const struct batch *batch;
    volatile uint64_t sum = 0;
    size_t count = 0;
    measure_begin(measure);
    if (record_input_open(&input, 1, &path, &settings, &error) < 0)
        return -1;
    while (record_input_next(input, &batch, &error) == 1) {
        sum += look(batch->records, batch->count);
        count += batch->count;
    }
    int status = record_input_close(input);
    measure_end(measure);
    return status != 0 || count != wanted ? -1 : 0;
}

static int report(const char *what, char *path, size_t count)
{
    struct measure best = {.wall = 1e9};
    for (int run = 0; run < RUNS; run++) {
        struct measure measure;
        if (read_through(path, count, &measure) < 0)
            return -1;
        if (measure.wall < best.wall)
            best = measure;
    }
    printf("  %-24s %8.1f million records/s, %.2f processors\n", what,
           (double)count / best.wall / 1e6, best.cpu / best.wall);
    return 0;
}

static int compare(struct record *records, size_t count, const char *folder)
{
    const char *shared = getenv("SHARED");
    char trace[4096];
    char raw[FOLDER_PATH_BYTES + 32];
    char prefix[FOLDER_PATH_BYTES + 32];
    char capture[FOLDER_PATH_BYTES + 96];
    snprintf(trace, sizeof trace, "%s/data/pentium2.byu", shared ? shared : "../shared");
    snprintf(raw, sizeof raw, "%s/raw.byu", folder);
    snprintf(prefix, sizeof prefix, "%s/capture", folder);
    printf("input: %zu million records, %s\n", count / 1000000,
           large_trace_fill(records, count, trace) ? "a Pentium II trace enlarged" : "made up");
    if (raw_file_write(raw, records, count) < 0 ||
        raw_capture_write(raw, prefix, capture, sizeof capture) < 0)
        return -1;
    return report("raw records", raw, count) < 0 || report("a capture", capture, count) < 0 ? -1
                                                                                            : 0;
}

int main(int argument_count, char **arguments)
{
    size_t count = (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 16) * 1000000;
    struct record *records = malloc((count + 1) * sizeof *records);
    char folder[FOLDER_PATH_BYTES];
    if (!records)
        return 1;
    folder_make(folder);
    int result = compare(records, count, folder);
    folder_remove(folder);
    free(records);
    return result < 0;
}
