/*
 * Speed of bustap cut and merge on a capture file, beside gzip, which decompresses and compresses
 * the same bytes; all in the same run.
 *
 * usage: bench_cut [MILLION_RECORDS]     (16)
 */
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/raw_capture.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS 3

enum middle { MIDDLE_RECORD, MIDDLE_BYTE, MIDDLE_TICK };

/* A command in the folder; %zu is the middle. */
struct job {
    const char *name;
    const char *command;
    enum middle middle;
};

static const struct job jobs[] = {
    {"everything, copied", "bustap cut all.gz -q -o out.gz --force", MIDDLE_RECORD},
    {"the second half, by index", "bustap cut all.gz -q -o out.gz --force --skip %zu",
     MIDDLE_RECORD},
    {"1 % from the middle, by index", "bustap cut all.gz -q -o out.gz --force --skip %zu -n 160k",
     MIDDLE_RECORD},
    {"1 % from the middle, by time",
     "bustap cut all.gz -q -o out.gz --force --time %zuticks.. -n 160k", MIDDLE_TICK},
    {"fetches (compressed again)", "bustap cut all.gz -q -o out.gz --force -f type=FETCH",
     MIDDLE_RECORD},
    {"all of raw records", "bustap cut all.byu -q -o out.gz --force", MIDDLE_RECORD},
    {"a half merged with its copy", "bustap merge first.gz copy.gz -q -o out.gz --force",
     MIDDLE_RECORD},
    {"parts by processor, merged", "bustap merge one.gz others.gz -q -o out.gz --force",
     MIDDLE_RECORD},
    {"gzip -dc | gzip -1", "gzip -dc all.gz | gzip -1 >out.gz", MIDDLE_RECORD},
    {"gzip -dc | tail of the second half | gzip -1",
     "gzip -dc all.gz | tail -c +%zu | gzip -1 >out.gz", MIDDLE_BYTE},
};

/* Wall-clock seconds of a shell command, the least of RUNS; negative on failure. */
static double seconds(const char *folder, const struct job *job, size_t middle)
{
    char command[FOLDER_PATH_BYTES + 300], line[256];
    double best = 1e9;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, job->command, middle);
#pragma GCC diagnostic pop
    snprintf(command, sizeof command, "cd '%s' && %s", folder, line);
    for (int run = 0; run < RUNS; run++) {
        struct measure measure;
        measure_begin(&measure);
        const int status = system(command); /* NOLINT(cert-env33-c): a benchmark's own commands */
        measure_end(&measure);
        if (status != 0)
            return -1;
        best = measure.wall < best ? measure.wall : best;
    }
    return best;
}

static int write_files(const struct record *records, size_t count, const char *folder)
{
    char raw[FOLDER_PATH_BYTES + 32], command[4 * FOLDER_PATH_BYTES + 400];
    snprintf(raw, sizeof raw, "%s/all.byu", folder);
    if (raw_file_write(raw, records, count) < 0)
        return -1;
    snprintf(
        command, sizeof command,
        "cd '%s' && bustap cut all.byu -q -o all.gz && bustap cut all.gz -q -n %zu -o first.gz && "
        "cp first.gz copy.gz && bustap cut all.gz -q -f processor=0 -o one.gz && "
        "bustap cut all.gz -q -f 'not processor=0' -o others.gz",
        folder, count / 2);
    return system(command); /* NOLINT(cert-env33-c): a benchmark's own commands */
}

static int run(const struct record *records, size_t count, const char *folder)
{
    if (write_files(records, count, folder) != 0)
        return -1;
    const size_t middles[] = {[MIDDLE_RECORD] = count / 2,
                              [MIDDLE_BYTE] = count / 2 * RECORD_BYTES + 1,
                              [MIDDLE_TICK] = records_time(records, count / 2)};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const double wall = seconds(folder, &jobs[i], middles[jobs[i].middle]);
        if (wall < 0)
            return -1;
        printf("  %-42s %8.3f s, %8.1f million records of the input/s\n", jobs[i].name, wall,
               (double)count / wall / 1e6);
    }
    return 0;
}

int main(int argument_count, char **arguments)
{
    const size_t count = (argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 16) * 1000000;
    const char *shared = getenv("SHARED");
    struct record *records = malloc((count + 1) * sizeof *records);
    char trace[4096], folder[FOLDER_PATH_BYTES];
    if (!records)
        return 1;
    snprintf(trace, sizeof trace, "%s/data/pentium2.byu", shared ? shared : "../shared");
    printf("cut: %zu million records; %s; wall-clock time, best of %d\n", count / 1000000,
           large_trace_fill(records, count, trace) ? "a Pentium II trace enlarged" : "made up",
           RUNS);
    folder_make(folder);
    const int result = run(records, count, folder);
    folder_remove(folder);
    free(records);
    return result < 0;
}
