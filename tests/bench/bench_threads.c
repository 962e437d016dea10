/*
 * `bustap cache -j 2` beside one thread, from records in memory and from a compressed capture:
 * elapsed time, and processor time of all threads, which tells what division costs on a busy
 * machine.
 *
 * usage: bench_threads [MILLION_RECORDS]     (8); SHARED has the real trace, where there is one
 */
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/raw_capture.h"
#include "tools/cache/study/simulation.h"
#include "tools/input/record_input.h"

#include <stdio.h>
#include <stdlib.h>

#define PAIRS 5
#define PIECE 16384u

struct work {
    struct record *records;
    size_t count;
    size_t references;
    char *capture; /* NULL: from memory */
};

static struct cache_settings cache(uint64_t size, uint32_t ways, enum cache_replacement policy)
{
    return (struct cache_settings){.size = size, .line = 32, .ways = ways, .replacement = policy};
}

static struct hierarchy_settings two_levels(enum cache_coherence coherence,
                                            enum cache_replacement policy)
{
    struct hierarchy_settings settings = {.level_count = 2, .coherence = coherence};
    settings.levels[0].split = true;
    settings.levels[0].sides[0] = settings.levels[0].sides[1] = cache(16u << 10, 4, policy);
    settings.levels[1].shared = true;
    settings.levels[1].sides[0] = cache(1u << 20, 8, policy);
    return settings;
}

static int put_memory(const struct work *work, struct simulation *simulation,
                      struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < work->count && result == 0; i += PIECE) {
        const size_t now = work->count - i < PIECE ? work->count - i : PIECE;
        struct batch batch = {.records = work->records + i, .count = now};
        result = sink_put(simulation_sink(simulation), &batch, error);
    }
    return result;
}

static int put_capture(struct work *work, struct simulation *simulation, struct bt_error *error)
{
    const struct record_input_settings reading = {.count = UINT64_MAX};
    struct record_input *input = NULL;
    int result = record_input_open(&input, 1, &work->capture, &reading, error);
    if (result == 0)
        result = record_input_run(input, simulation_sink(simulation), error);
    return input && record_input_close(input) != 0 ? -1 : result;
}

static struct measure simulate(struct work *work, const struct hierarchy_settings *settings,
                               unsigned threads)
{
    struct simulation *simulation = NULL;
    struct cache_results results = {.cache_count = 0};
    struct measure measure;
    struct bt_error error = {.message = ""};
    measure_begin(&measure);
    int result = simulation_new(&simulation, settings, threads, NULL, &error);
    if (result == 0)
        result = work->capture ? put_capture(work, simulation, &error)
                               : put_memory(work, simulation, &error);
    if (result == 0)
        result = simulation_end(simulation, &results, &error);
    measure_end(&measure);
    cache_results_clear(&results);
    simulation_free(simulation);
    if (result < 0) {
        fprintf(stderr, "bench_threads: %s\n", error.message);
        exit(3);
    }
    return measure;
}

static int ascending(const void *a, const void *b)
{
    const double one = *(const double *)a;
    const double other = *(const double *)b;
    return (one > other) - (one < other);
}

static void report(struct work *work, const char *what, const struct hierarchy_settings *settings)
{
    double ratios[PAIRS];
    double best_one = 1e9, best_two = 1e9, cpu_one = 1e9, cpu_two = 1e9;
    for (int pair = 0; pair < PAIRS; pair++) {
        const struct measure one = simulate(work, settings, 1);
        const struct measure two = simulate(work, settings, 2);
        ratios[pair] = one.wall / two.wall;
        best_one = one.wall < best_one ? one.wall : best_one;
        best_two = two.wall < best_two ? two.wall : best_two;
        cpu_one = one.cpu < cpu_one ? one.cpu : cpu_one;
        cpu_two = two.cpu < cpu_two ? two.cpu : cpu_two;
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    const double scale = 1e9 / (double)work->references;
    printf("  %-13s%-9s %5.1f and %5.1f ns a reference, %.2f times as fast (%.2f to %.2f); "
           "processor time %5.1f and %5.1f ns\n",
           what, work->capture ? " captured" : "", scale * best_one, scale * best_two,
           ratios[PAIRS / 2], ratios[0], ratios[PAIRS - 1], scale * cpu_one, scale * cpu_two);
}

static void report_all(struct work *work)
{
    struct hierarchy_settings direct = {.level_count = 1};
    direct.levels[0].sides[0] = cache(32u << 10, 1, CACHE_LRU);
    const struct hierarchy_settings two = two_levels(CACHE_INCOHERENT, CACHE_LRU);
    const struct hierarchy_settings fifo = two_levels(CACHE_INCOHERENT, CACHE_FIFO);
    const struct hierarchy_settings mesi = two_levels(CACHE_MESI, CACHE_LRU);
    report(work, "direct mapped", &direct);
    report(work, "two levels", &two);
    report(work, "fifo", &fifo);
    report(work, "mesi", &mesi);
}

int main(int argc, char **argv)
{
    struct work work = {.count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 8) * 1000000};
    char folder[FOLDER_PATH_BYTES], raw[FOLDER_PATH_BYTES + 32], prefix[FOLDER_PATH_BYTES + 32];
    char capture[FOLDER_PATH_BYTES + 96];
    bool real = false;
    work.records = large_trace_new(work.count, &work.references, &real);
    if (!work.records) {
        fprintf(stderr, "bench_threads: cannot begin\n");
        return 3;
    }
    for (size_t i = 0; i < work.count; i++)
        work.records[i].processor = (uint8_t)(i / 64 % 4);
    printf("threads: %.0f million records of 4 processors, from %s; one thread and two, medians of "
           "%d pairs\n",
           (double)work.count / 1e6, real ? "a Pentium II's bus" : "a generator", PAIRS);
    report_all(&work);
    folder_make(folder);
    snprintf(raw, sizeof raw, "%s/raw.byu", folder);
    snprintf(prefix, sizeof prefix, "%s/capture", folder);
    int result = raw_file_write(raw, work.records, work.count);
    if (result == 0)
        result = raw_capture_write(raw, prefix, capture, sizeof capture);
    if (result == 0) {
        work.capture = capture;
        report_all(&work);
    }
    folder_remove(folder);
    free(work.records);
    return result == 0 ? 0 : 3;
}
