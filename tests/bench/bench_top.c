/*
 * Speed of counting by keys: of records in memory, exactly and in bounded memory; and of the whole
 * command on a file of raw records, beside b2a with awk, and with sort and uniq.
 *
 * usage: bench_top [MILLION_RECORDS]     (16)
 */
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/random.h"
#include "tests/support/raw_capture.h"
#include "tools/top/top_study.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS  3
#define BATCH 16384u

static int count_all(struct record *records, size_t count,
                     const struct top_study_settings *settings, struct measure *measure,
                     uint64_t *keys)
{
    struct bt_error error;
    struct top_snapshot snapshot;
    measure_begin(measure);
    struct top_study *study = top_study_new(settings, &error);
    int result = study ? 0 : error.code;
    for (size_t done = 0; done < count && result == 0; done += BATCH) {
        const size_t some = count - done < BATCH ? count - done : BATCH;
        const struct batch batch = {.records = records + done, .count = some, .capacity = some};
        result = top_study_put(study, &batch, &error);
    }
    if (result == 0)
        result = top_study_snapshot(study, 20, false, &snapshot, &error);
    measure_end(measure);
    if (result == 0) {
        *keys = snapshot.totals.held;
        top_snapshot_clear(&snapshot);
    }
    top_study_free(study);
    return result;
}

static int report(const char *what, struct record *records, size_t count, const char *by,
                  uint64_t entries)
{
    struct top_study_settings settings = {.key = {.line_shift = 6, .page_shift = 12},
                                          .entries = entries};
    struct measure best = {.cpu = 1e9}, measure;
    struct bt_error error;
    uint64_t keys = 0;
    if (top_key_take(&settings.key, by, &error) < 0 || top_key_pack(&settings.key, &error) < 0)
        return -1;
    for (int run = 0; run < RUNS; run++) {
        if (count_all(records, count, &settings, &measure, &keys) < 0)
            return -1;
        if (measure.cpu < best.cpu)
            best = measure;
    }
    printf("  %-7s %-15s %8s %8.1f million records/s, %9llu keys held\n", what, by,
           entries > 0 ? "in 10k" : "exactly", (double)count / best.cpu / 1e6,
           (unsigned long long)keys);
    return 0;
}

static int report_keys(const char *what, struct record *records, size_t count)
{
    return report(what, records, count, "line", 0) < 0 ||
                   report(what, records, count, "page", 0) < 0 ||
                   report(what, records, count, "address", 0) < 0 ||
                   report(what, records, count, "type", 0) < 0 ||
                   report(what, records, count, "line,processor", 0) < 0 ||
                   report(what, records, count, "line", 10000) < 0
               ? -1
               : 0;
}

/* Wall-clock seconds of a shell command; negative on failure. */
static double seconds(const char *command)
{
    struct measure measure;
    measure_begin(&measure);
    const int status = system(command); /* NOLINT(cert-env33-c): a benchmark's own commands */
    measure_end(&measure);
    return status == 0 ? measure.wall : -1;
}

/* The whole command beside what one would write without it, on fewer records. */
static int compare_commands(const struct record *records, size_t count, const char *folder)
{
    static const char *const commands[] = {
        "bustap top --by line '%s' >/dev/null", "bustap top --by address '%s' >/dev/null",
        "b2a '%s' | awk '{ n[$2]++ } END { for (a in n) print n[a], a }' | sort -rn | head -n 20 "
        ">/dev/null",
        "b2a '%s' | awk '{ print $2 }' | sort | uniq -c | sort -rn | head -n 20 >/dev/null"};
    char raw[FOLDER_PATH_BYTES + 32], command[FOLDER_PATH_BYTES + 256];
    snprintf(raw, sizeof raw, "%s/raw.byu", folder);
    if (raw_file_write(raw, records, count) < 0)
        return -1;
    printf("  commands, a file of %zu million records:\n", count / 1000000);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        double best = 1e9;
        for (int run = 0; run < (i < 2 ? RUNS : 1); run++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(command, sizeof command, commands[i], raw);
#pragma GCC diagnostic pop
            const double wall = seconds(command);
            if (wall < 0)
                return -1;
            best = wall < best ? wall : best;
        }
        printf("    %8.1f million records/s  %.60s\n", (double)count / best / 1e6, commands[i]);
    }
    return 0;
}

int main(int argument_count, char **arguments)
{
    const size_t count = (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 16) * 1000000;
    const char *shared = getenv("SHARED");
    struct record *records = malloc((count + 1) * sizeof *records);
    char trace[4096], folder[FOLDER_PATH_BYTES];
    uint64_t random = random_seed(1);
    if (!records)
        return 1;
    snprintf(trace, sizeof trace, "%s/data/pentium2.byu", shared ? shared : "../shared");
    printf("top: %zu million records; bus: %s; random: of 4 million lines\n", count / 1000000,
           large_trace_fill(records, count, trace) ? "a Pentium II trace enlarged" : "made up");
    folder_make(folder);
    int result = report_keys("bus", records, count);
    if (result == 0)
        result = compare_commands(records, count < 4000000 ? count : 4000000, folder);
    for (size_t i = 0; i < count; i++)
        records[i] = (struct record){.address = (uint32_t)random_below(&random, 1u << 22) << 6,
                                     .type = REQUEST_MEMREAD,
                                     .size = 8};
    if (result == 0)
        result = report_keys("random", records, count);
    folder_remove(folder);
    free(records);
    return result < 0;
}
