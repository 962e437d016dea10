/*
 * Speed and memory of computing miss-ratio curves: of records in memory, with more distinct lines
 * than any cache holds, and of a capture on disk that another thread decompresses.
 *
 * usage: bench_mrc [MILLION_RECORDS]     (32)
 */
#define _GNU_SOURCE /* getrusage, fork's children */

#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/random.h"
#include "tests/support/raw_capture.h"
#include "tests/support/yardstick.h"
#include "tools/input/record_input.h"
#include "tools/mrc/mrc_study.h"
#include "tools/mrc/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS         5
#define BATCH        16384u
#define MILLION      1000000u
#define LOCAL_PASSES 2u

/* Result of one run; the child sends it through a pipe. */
struct result {
    double seconds; /* of processor time */
    double wall;
    uint64_t references, lines;
    double bytes; /* peak memory for each distinct line */
};

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static const struct mrc_study_settings plain = {
    .kind = BANK_DISTANCES, .line_bytes = 32, .sets = 1, .sample = SAMPLE_ALL};

static int finish(struct mrc_study *study, struct measure *measure, double before,
                  struct result *result)
{
    measure_end(measure);
    const struct series *series = mrc_study_series(study, 0);
    *result = (struct result){.seconds = measure->cpu,
                              .wall = measure->wall,
                              .references = series->references,
                              .lines = series->cold};
    result->bytes = (peak_bytes() - before) / (double)result->lines;
    mrc_study_free(study);
    return 0;
}

/* A measurement and its input. */
struct subject {
    const char *name;
    struct record *records; /* NULL: read the file */
    size_t count;
    unsigned passes;
    uint64_t sample;
    enum cache_replacement replacement; /* not CACHE_LRU: simulated in sizes of powers of two */
    char *path;
};

/* Passes the records in memory to a study. */
static int put_all(const struct subject *subject, struct mrc_study *study)
{
    struct bt_error error;
    for (unsigned pass = 0; study && pass < subject->passes; pass++) {
        for (size_t done = 0; done < subject->count; done += BATCH) {
            const size_t left = subject->count - done;
            const size_t some = left < BATCH ? left : BATCH;
            const struct batch batch = {.records = subject->records + done, .count = some};
            if (mrc_study_put(study, &batch, &error) < 0)
                return -1;
        }
    }
    return study ? 0 : -1;
}

/* The second reading for a simulated curve. */
static int simulate(const struct subject *subject, const struct mrc_study *study)
{
    struct mrc_study_settings settings = *mrc_study_settings(study);
    struct simulated_sizes sizes;
    struct bt_error error;
    mrc_study_choose_sizes(study, 1, &sizes);
    settings.kind = BANK_SIMULATED;
    settings.sizes = &sizes;
    struct mrc_study *simulated = mrc_study_new(&settings, 0, &error);
    const int result = put_all(subject, simulated);
    mrc_study_free(simulated);
    return result;
}

/* Computes one curve of records in memory. */
static int run_memory(const struct subject *subject, struct result *result)
{
    struct mrc_study_settings settings = plain;
    struct bt_error error;
    struct measure measure;
    settings.sample = subject->sample;
    settings.replacement = subject->replacement;
    const double before = (double)measure_resident_bytes();
    measure_begin(&measure);
    struct mrc_study *study = mrc_study_new(&settings, 0, &error);
    if (put_all(subject, study) < 0 ||
        (settings.replacement != CACHE_LRU && simulate(subject, study) < 0))
        return -1;
    return finish(study, &measure, before, result);
}

/* Computes one curve of a file. */
static int run_file(char *path, struct result *result)
{
    const struct record_input_settings settings = {.count = UINT64_MAX};
    struct record_input *input;
    const struct batch *batch;
    struct bt_error error;
    struct measure measure;
    const double before = (double)measure_resident_bytes();
    measure_begin(&measure);
    struct mrc_study *study = mrc_study_new(&plain, 0, &error);
    if (!study || record_input_open(&input, 1, &path, &settings, &error) < 0)
        return -1;
    while (record_input_next(input, &batch, &error) == 1)
        if (mrc_study_put(study, batch, &error) < 0)
            return -1;
    record_input_close(input);
    return finish(study, &measure, before, result);
}

/* Runs it in a separate process, to measure its memory alone. */
static int run_apart(const struct subject *subject, struct result *result)
{
    int ends[2];
    if (pipe(ends) < 0)
        return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct result found;
        int failed =
            subject->records ? run_memory(subject, &found) : run_file(subject->path, &found);
        if (failed == 0 && write(ends[1], &found, sizeof found) != (ssize_t)sizeof found)
            failed = -1;
        _exit(failed != 0);
    }
    close(ends[1]);
    ssize_t got = child < 0 ? -1 : read(ends[0], result, sizeof *result);
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return got == (ssize_t)sizeof *result ? 0 : -1;
}

/* Prints the best of several runs. Returns its rate in wall time, or 0 on failure. */
static double report(const struct subject *subject, double yardstick)
{
    struct result best = {.wall = 1e9, .seconds = 1e9};
    for (int run = 0; run < RUNS; run++) {
        struct result result;
        if (run_apart(subject, &result) < 0)
            return 0;
        const double wall = best.wall;
        if (result.seconds < best.seconds)
            best = result;
        best.wall = wall < result.wall ? wall : result.wall;
    }
    const double references = (double)best.references;
    printf("  %-34s %6.1f million references/s of one processor's time, %6.1f on the clock, %5.1f "
           "b2a; %.2f million lines",
           subject->name, references / best.seconds / 1e6, references / best.wall / 1e6,
           references / best.wall / yardstick, (double)best.lines / 1e6);
    if (subject->sample == SAMPLE_ALL)
        printf(", %.1f bytes each", best.bytes);
    puts("");
    return references / best.wall;
}

/* Reads uniformly distributed over a million lines of 32 bytes. */
static void fill_uniform(struct record *records, size_t count)
{
    uint64_t random = random_seed(1);
    for (size_t i = 0; i < count; i++)
        records[i] = (struct record){.address = (uint32_t)random_below(&random, MILLION) * 32,
                                     .type = REQUEST_MEMREAD,
                                     .size = 32,
                                     .attribute = ATTRIBUTE_WRITE_BACK,
                                     .time = 10};
}

/* The first records of the trace, with about a million distinct lines. */
static size_t fill_local(struct record *records, size_t count, const char *path)
{
    const size_t some = count < 9 * MILLION ? count : 9 * MILLION;
    large_trace_fill(records, some, path);
    return some;
}

/* Simulated curves, of fewer records because each size takes its time. */
static int report_simulated(struct record *records, size_t count, double yardstick)
{
    const size_t few = count / 8;
    struct subject subject = {.name = "fifo, simulated in each size",
                              .records = records,
                              .count = few,
                              .passes = 1,
                              .sample = SAMPLE_ALL,
                              .replacement = CACHE_FIFO};
    if (report(&subject, yardstick) == 0)
        return -1;
    subject.name = "srrip, simulated in each size";
    subject.replacement = CACHE_SRRIP;
    if (report(&subject, yardstick) == 0)
        return -1;
    subject.name = "srrip, of one line in a hundred";
    subject.sample = SAMPLE_ALL / 100;
    return report(&subject, yardstick) == 0 ? -1 : 0;
}

static int compare(struct record *records, size_t count, const char *folder)
{
    const char *shared = getenv("SHARED");
    char trace[4096];
    char raw[FOLDER_PATH_BYTES + 32];
    char prefix[FOLDER_PATH_BYTES + 32];
    char capture[FOLDER_PATH_BYTES + 96];
    const double yardstick = yardstick_b2a_rate();
    snprintf(trace, sizeof trace, "%s/data/pentium2.byu", shared ? shared : "../shared");
    snprintf(raw, sizeof raw, "%s/raw.byu", folder);
    snprintf(prefix, sizeof prefix, "%s/capture", folder);
    printf("mrc: exact curves, lines of 32 bytes; b2a: the classic way to print records, %.2f "
           "million records/s\n",
           yardstick / 1e6);
    fill_uniform(records, count);
    struct subject subject = {.name = "anywhere in a million lines",
                              .records = records,
                              .count = count,
                              .passes = 1,
                              .sample = SAMPLE_ALL,
                              .path = NULL};
    if (report(&subject, yardstick) == 0)
        return -1;
    const size_t some = fill_local(records, count, trace);
    subject = (struct subject){.name = "a Pentium II trace, twice",
                               .records = records,
                               .count = some,
                               .passes = LOCAL_PASSES,
                               .sample = SAMPLE_ALL,
                               .path = NULL};
    if (report(&subject, yardstick) == 0)
        return -1;
    large_trace_fill(records, count, trace);
    subject = (struct subject){.name = "the trace, longer",
                               .records = records,
                               .count = count,
                               .passes = 1,
                               .sample = SAMPLE_ALL,
                               .path = NULL};
    const double in_memory = report(&subject, yardstick);
    subject.name = "the same, one line in a hundred";
    subject.sample = SAMPLE_ALL / 100;
    if (in_memory == 0 || report(&subject, yardstick) == 0 ||
        report_simulated(records, count, yardstick) < 0 ||
        raw_file_write(raw, records, count) < 0 ||
        raw_capture_write(raw, prefix, capture, sizeof capture) < 0)
        return -1;
    subject = (struct subject){.name = "the longer one, from a capture",
                               .records = NULL,
                               .count = 0,
                               .passes = 1,
                               .sample = SAMPLE_ALL,
                               .path = capture};
    const double from_disk = report(&subject, yardstick);
    printf("  from a capture: %.0f %% of the rate in memory\n", 100 * from_disk / in_memory);
    return from_disk == 0 ? -1 : 0;
}

int main(int argument_count, char **arguments)
{
    const size_t count =
        (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 32) * (size_t)MILLION;
    struct record *records = malloc((count + 1) * sizeof *records);
    char folder[FOLDER_PATH_BYTES];
    if (!records)
        return 3;
    folder_make(folder);
    int result = compare(records, count, folder);
    folder_remove(folder);
    free(records);
    return result == 0 ? 0 : 3;
}
