/*
 * What --trigger, --pre, --post, --stop-on and --ring cost: the host's pipeline with each, beside
 * the plain capture of the same records, in turns in the same run.
 *
 * usage: bench_trigger [ROUNDS]     (8; each round sends 8 million records)
 */
#include "capture/capture.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/memory_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENT_RECORDS ((size_t)8 << 20)
#define TURNS        3

struct job {
    const char *name;
    struct trigger_settings trigger;
};

static const struct job jobs[] = {
    {"plain", {.trigger = ""}},
    {"--stop-on, no match", {.stop_on = "type=SHUTDOWN and size=33"}},
    {"--trigger, no match, --pre 100k",
     {.trigger = "type=SHUTDOWN and size=33", .pre_records = 100000, .post_records = 100000}},
    {"--trigger, 1 in 4M, --pre 100k --post 100k",
     {.trigger = "index&0x3fffff=0", .pre_records = 100000, .post_records = 100000}},
    {"--trigger, 1 in 4M, --pre 1ms --post 1ms",
     {.trigger = "index&0x3fffff=0", .pre_ns = 1000000, .post_ns = 1000000}},
    {"--trigger, 1 in 262144, --pre 1k --post 1k",
     {.trigger = "index&0x3ffff=0", .pre_records = 1000, .post_records = 1000}},
    {"--trigger type=FETCH --pre 100 --post 100",
     {.trigger = "type=FETCH", .pre_records = 100, .post_records = 100}},
    {"--trigger type=FETCH --pre 10us --post 10us",
     {.trigger = "type=FETCH", .pre_ns = 10000, .post_ns = 10000}},
    {"--trigger type=FETCH --pre 1ms --post 1ms",
     {.trigger = "type=FETCH", .pre_ns = 1000000, .post_ns = 1000000}},
    {"--ring 64M", {.ring_bytes = 64 << 20}},
};
#define JOBS (sizeof jobs / sizeof *jobs)

/* The best of the turns. */
struct result {
    double wall, cpu; /* seconds */
    struct capture_status status;
};

static void die(const struct bt_error *error)
{
    fprintf(stderr, "bench_trigger: %s\n", error->message);
    exit(3);
}

/* Captures once; keeps the fastest turn. */
static void run(const struct job *job, const struct record *records, unsigned rounds,
                struct result *best)
{
    struct bt_error error;
    struct capture_settings settings = capture_settings_default();
    struct measure measure;
    struct capture_status status;
    strcpy(settings.prefix, "pipeline/trace");
    settings.append = true; /* one prefix for all turns */
    settings.rotate_bytes = trigger_selects(&job->trigger) ? 0 : 256u << 20;
    settings.keep = 4;
    settings.trigger = job->trigger;
    struct stream *board =
        memory_board_new(records, SENT_RECORDS, (uint64_t)SENT_RECORDS * rounds, WIRE_PLAIN);
    struct source *source = memory_board_source(board, WIRE_PLAIN);
    measure_begin(&measure);
    struct capture *capture = capture_new(&settings, source, &error);
    if (!capture)
        die(&error);
    while (!capture_wait(capture, 1000))
        continue;
    measure_end(&measure);
    capture_get_status(capture, &status);
    capture_free(capture);
    if (status.failed)
        die(&status.error);
    if (best->wall == 0 || measure.wall < best->wall)
        *best = (struct result){.wall = measure.wall, .cpu = measure.cpu, .status = status};
}

static void print(const struct job *job, const struct result *result, const struct result *plain,
                  uint64_t sent)
{
    const struct capture_status *status = &result->status;
    printf("%-44s %6.1f M records/s, %4.2f times plain; processor time %4.2f times plain; saved "
           "%5.1f %%, %llu matches, %llu files\n",
           job->name, (double)sent / result->wall / 1e6, plain->wall / result->wall,
           result->cpu / plain->cpu, 100 * (double)status->records / (double)sent,
           (unsigned long long)status->trigger.matches, (unsigned long long)status->files);
}

int main(int argument_count, char **arguments)
{
    const unsigned rounds = argument_count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 8;
    const char *shared = getenv("SHARED");
    struct result results[JOBS] = {{.wall = 0}};
    struct record *records = malloc(SENT_RECORDS * sizeof *records);
    char path[4096];
    if (!records || rounds == 0)
        return 3;
    snprintf(path, sizeof path, "%s/data/pentium2.byu", shared ? shared : "../shared");
    bool real = large_trace_fill(records, SENT_RECORDS, path);
    printf("records: %s, enlarged to %zu, sent %u times; best of %d\n",
           real ? "a real Pentium II trace" : "made up", SENT_RECORDS, rounds, TURNS);
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < JOBS; i++)
            run(&jobs[i], records, rounds, &results[i]);
    for (size_t i = 0; i < JOBS; i++)
        print(&jobs[i], &results[i], &results[0], (uint64_t)SENT_RECORDS * rounds);
    free(records);
    return 0;
}
