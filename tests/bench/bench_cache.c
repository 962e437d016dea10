/*
 * Simulated references a second, records in memory and one thread: a direct-mapped cache, a split
 * level 1 above a level 2, four processors with MESI, and a sweep over 30 sizes; relative to the
 * classic b2a on the same machine.
 *
 * usage: bench_cache [MILLION_RECORDS]     (8); SHARED has the real trace, where there is one
 */
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/raw_capture.h"
#include "tests/support/yardstick.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/cache/study/simulation.h"
#include "tools/cache/study/sweep.h"
#include "tools/input/record_input.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS      3
#define PIECE     16384u
#define YARDSTICK 1000000u /* records */

struct work {
    struct record *records;
    size_t count;
    size_t references;
    double yardstick;
};

/* Returns the records that the classic b2a prints in a second of processor time, or 0 on failure.
 * All rates here are per processor time, which a busy machine hardly changes. */
static double classic_rate(const struct work *work)
{
    char folder[FOLDER_PATH_BYTES];
    char raw[FOLDER_PATH_BYTES + 32];
    double best = 1e9;
    size_t count = work->count < YARDSTICK ? work->count : YARDSTICK;
    folder_make(folder);
    snprintf(raw, sizeof raw, "%s/raw.byu", folder);
    int result = raw_file_write(raw, work->records, count);
    for (int run = 0; run < RUNS && result == 0; run++) {
        struct measure measure;
        measure_begin(&measure);
        result = yardstick_b2a_seconds(raw) < 0 ? -1 : 0;
        measure_end(&measure);
        best = measure.cpu < best ? measure.cpu : best;
    }
    folder_remove(folder);
    return result == 0 ? (double)count / best : 0;
}

/* Returns processor time, and wall time in *wall unless that is NULL: the best of several runs. */
static double seconds_of(const struct work *work, const struct hierarchy_settings *settings,
                         double *wall)
{
    double best = 1e9;
    double best_wall = 1e9;
    for (int run = 0; run < RUNS; run++) {
        struct hierarchy *hierarchy;
        struct measure measure;
        struct bt_error error;
        if (hierarchy_new(&hierarchy, settings, &error) < 0) {
            fprintf(stderr, "%s\n", error.message);
            exit(3);
        }
        measure_begin(&measure);
        for (size_t i = 0; i < work->count; i += PIECE)
            hierarchy_put(hierarchy, work->records + i,
                          work->count - i < PIECE ? work->count - i : PIECE, &error);
        hierarchy_end(hierarchy, &error);
        measure_end(&measure);
        best = measure.cpu < best ? measure.cpu : best;
        best_wall = measure.wall < best_wall ? measure.wall : best_wall;
        hierarchy_free(hierarchy);
    }
    if (wall)
        *wall = best_wall;
    return best;
}

static void report(const struct work *work, const char *what, double seconds)
{
    double rate = (double)work->references / seconds;
    printf("  %-44s %7.1f million references/s, %5.1f times b2a\n", what, rate / 1e6,
           rate / work->yardstick);
}

/* Wall time with records from a file and with records in memory. */
static void report_wall(const struct work *work, const char *what, double seconds, double memory)
{
    printf("  %-44s %7.1f million references/s on the wall, %.0f %% of from memory\n", what,
           (double)work->references / seconds / 1e6, 100 * memory / seconds);
}

static struct cache_settings cache(uint64_t size, uint32_t line, uint32_t ways)
{
    return (struct cache_settings){.size = size, .line = line, .ways = ways};
}

/* Reads a capture's compressed file, as the command does. Returns seconds of wall time, or -1. */
static double capture_seconds(char *path, const struct hierarchy_settings *settings)
{
    const struct record_input_settings reading = {.count = UINT64_MAX};
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        struct record_input *input = NULL;
        struct simulation *simulation = NULL;
        struct cache_results results = {.cache_count = 0};
        struct measure measure;
        struct bt_error error;
        measure_begin(&measure);
        int result = simulation_new(&simulation, settings, 1, NULL, &error);
        if (result == 0)
            result = record_input_open(&input, 1, &path, &reading, &error);
        if (result == 0)
            result = record_input_run(input, simulation_sink(simulation), &error);
        if (input && record_input_close(input) != 0)
            result = -1;
        if (result == 0)
            result = simulation_end(simulation, &results, &error);
        measure_end(&measure);
        cache_results_clear(&results);
        simulation_free(simulation);
        if (result < 0)
            return -1;
        best = measure.wall < best ? measure.wall : best;
    }
    return best;
}

static int from_capture(const struct work *work, const struct hierarchy_settings *direct,
                        const struct hierarchy_settings *two)
{
    char folder[FOLDER_PATH_BYTES];
    char raw[FOLDER_PATH_BYTES + 32];
    char prefix[FOLDER_PATH_BYTES + 32];
    char capture[FOLDER_PATH_BYTES + 96];
    folder_make(folder);
    snprintf(raw, sizeof raw, "%s/raw.byu", folder);
    snprintf(prefix, sizeof prefix, "%s/capture", folder);
    int result = raw_file_write(raw, work->records, work->count);
    if (result == 0)
        result = raw_capture_write(raw, prefix, capture, sizeof capture);
    double one = result == 0 ? capture_seconds(capture, direct) : -1;
    double other = result == 0 ? capture_seconds(capture, two) : -1;
    folder_remove(folder);
    if (one < 0 || other < 0)
        return -1;
    double one_memory;
    double other_memory;
    seconds_of(work, direct, &one_memory);
    seconds_of(work, two, &other_memory);
    report_wall(work, "the first, from a compressed capture", one, one_memory);
    report_wall(work, "the second, from a compressed capture", other, other_memory);
    return 0;
}

static int hierarchies(struct work *work)
{
    struct hierarchy_settings direct = {.level_count = 1};
    direct.levels[0].sides[0] = cache(32u << 10, 32, 1);
    report(work, "32 KiB direct mapped, unified", seconds_of(work, &direct, NULL));
    struct hierarchy_settings two = {.level_count = 2};
    two.levels[0].split = true;
    two.levels[0].sides[0] = two.levels[0].sides[1] = cache(16u << 10, 32, 4);
    two.levels[1].shared = true;
    two.levels[1].sides[0] = cache(1u << 20, 64, 8);
    report(work, "split 2 x 16 KiB, 4 ways; 1 MiB, 8 ways", seconds_of(work, &two, NULL));
    for (size_t i = 0; i < work->count; i++)
        work->records[i].processor = (uint8_t)(i / 64 % 4);
    struct hierarchy_settings four = two;
    four.coherence = CACHE_MESI;
    four.levels[1].sides[0].line = 32;
    report(work, "4 processors, the same with MESI", seconds_of(work, &four, NULL));
    for (size_t i = 0; i < work->count; i++)
        work->records[i].processor = 0;
    return from_capture(work, &direct, &two);
}

static double sweep_seconds(const struct work *work, const struct sweep_settings *settings)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        struct sweep *sweep;
        struct measure measure;
        struct bt_error error;
        if (sweep_new(&sweep, settings, &error) < 0) {
            fprintf(stderr, "%s\n", error.message);
            exit(3);
        }
        measure_begin(&measure);
        for (size_t i = 0; i < work->count; i += PIECE) {
            struct batch batch = {.records = work->records + i,
                                  .count = work->count - i < PIECE ? work->count - i : PIECE};
            sink_put(sweep_sink(sweep), &batch, &error);
        }
        sweep_end(sweep, &error);
        measure_end(&measure);
        best = measure.cpu < best ? measure.cpu : best;
        sweep_free(sweep);
    }
    return best;
}

/* 30 caches: ten sizes from 4 KiB on, with 4, 8 and 16 ways. */
static void sweeps(const struct work *work)
{
    struct sweep_axes axes = {.level = 0};
    for (unsigned ways = 4; ways <= 16; ways *= 2)
        axes.ways[axes.ways_count++] = ways;
    for (uint64_t size = 4u << 10; size <= 2u << 20; size *= 2)
        axes.sizes[axes.size_count++] = size;
    struct hierarchy_settings settings = {.level_count = 1};
    settings.levels[0].sides[0] = cache(32u << 10, 32, 4);
    double one = seconds_of(work, &settings, NULL);
    const struct sweep_settings all = {
        .hierarchy = &settings, .axes = &axes, .threads = 1, .together = true};
    report(work, "32 KiB, 4 ways", one);
    double thirty = sweep_seconds(work, &all);
    report(work, "a sweep over 30 caches, 4 KiB to 2 MiB", thirty);
    printf("  %-44s %7.1f times the time of one\n", "", thirty / one);
}

int main(int argc, char **argv)
{
    struct work work = {.count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 8) * 1000000};
    bool real = false;
    work.records = large_trace_new(work.count, &work.references, &real);
    if (work.records)
        work.yardstick = classic_rate(&work);
    if (work.yardstick <= 0) {
        fprintf(stderr, "bench_cache: cannot begin\n");
        free(work.records);
        return 3;
    }
    printf("cache: %.0f million records, from %s; b2a's classic way %.2f million records/s\n",
           (double)work.count / 1e6, real ? "a Pentium II's bus" : "a generator",
           work.yardstick / 1e6);
    int result = hierarchies(&work);
    sweeps(&work);
    free(work.records);
    return result == 0 ? 0 : 3;
}
