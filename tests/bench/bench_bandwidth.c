/*
 * What part of the memory's bandwidth each path of a study uses: records are 12 bytes, in memory
 * and read once. Beside them, the bandwidth of reading and copying alone. Processor time.
 *
 * usage: bench_bandwidth [MILLION_RECORDS]     (8); SHARED has the real trace, where there is one
 */
#include "formats/record/expression.h"
#include "tests/support/folder.h"
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/raw_capture.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/input/record_input.h"
#include "tools/mrc/mrc_study.h"
#include "tools/mrc/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS  3
#define PIECE 16384u

struct work {
    struct record *records;
    struct record *copy;
    size_t count;
    char raw[FOLDER_PATH_BYTES + 32];
    char capture[FOLDER_PATH_BYTES + 96];
};

/* Goes through all records; false on failure. */
typedef bool path_function(struct work *work);

static bool read_only(struct work *work)
{
    const uint64_t *words = (const void *)work->records;
    uint64_t sums[4] = {0, 0, 0, 0};
    for (size_t i = 0; i + 4 <= work->count * sizeof *work->records / 8; i += 4)
        for (unsigned k = 0; k < 4; k++)
            sums[k] ^= words[i + k];
    volatile uint64_t sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
    (void)sum;
    return true;
}

static bool copy_only(struct work *work)
{
    memcpy(work->copy, work->records, work->count * sizeof *work->records);
    return true;
}

static struct cache_settings cache(uint64_t size, uint32_t ways, enum cache_replacement policy)
{
    return (struct cache_settings){.size = size, .line = 32, .ways = ways, .replacement = policy};
}

static struct hierarchy_settings two_levels(enum cache_replacement policy)
{
    struct hierarchy_settings settings = {.level_count = 2};
    settings.levels[0].split = true;
    settings.levels[0].sides[0] = settings.levels[0].sides[1] = cache(16u << 10, 4, policy);
    settings.levels[1].shared = true;
    settings.levels[1].sides[0] = cache(1u << 20, 8, policy);
    return settings;
}

static bool simulate(const struct work *work, const struct hierarchy_settings *settings)
{
    struct hierarchy *hierarchy;
    struct bt_error error;
    int result = hierarchy_new(&hierarchy, settings, &error);
    for (size_t i = 0; i < work->count && result == 0; i += PIECE)
        result = hierarchy_put(hierarchy, work->records + i,
                               work->count - i < PIECE ? work->count - i : PIECE, &error);
    hierarchy_free(hierarchy);
    return result == 0;
}

static bool direct_mapped(struct work *work)
{
    struct hierarchy_settings settings = {.level_count = 1};
    settings.levels[0].sides[0] = cache(32u << 10, 1, CACHE_LRU);
    return simulate(work, &settings);
}

static bool two(struct work *work)
{
    const struct hierarchy_settings settings = two_levels(CACHE_LRU);
    return simulate(work, &settings);
}

static bool mesi(struct work *work)
{
    struct hierarchy_settings settings = two_levels(CACHE_LRU);
    settings.coherence = CACHE_MESI;
    return simulate(work, &settings);
}

static bool fifo(struct work *work)
{
    const struct hierarchy_settings settings = two_levels(CACHE_FIFO);
    return simulate(work, &settings);
}

static bool classify(struct work *work)
{
    struct hierarchy_settings settings = two_levels(CACHE_LRU);
    settings.classify = true;
    return simulate(work, &settings);
}

static bool exact_curve(struct work *work)
{
    const struct mrc_study_settings settings = {
        .kind = BANK_DISTANCES, .line_bytes = 32, .sets = 1, .sample = SAMPLE_ALL};
    struct bt_error error;
    struct mrc_study *study = mrc_study_new(&settings, 0, &error);
    int result = study ? 0 : -1;
    for (size_t i = 0; i < work->count && result >= 0; i += PIECE) {
        const struct batch batch = {.records = work->records + i,
                                    .count = work->count - i < PIECE ? work->count - i : PIECE};
        result = mrc_study_put(study, &batch, &error);
    }
    mrc_study_free(study);
    return result >= 0;
}

static bool filter(struct work *work)
{
    uint64_t selected[PIECE / 64];
    struct expression *expression;
    if (expression_parse(&expression, "type=FETCH and address=0x00100000-0x001fffff", NULL, NULL) <
        0)
        return false;
    for (size_t i = 0; i < work->count; i += PIECE) {
        const struct batch batch = {.records = work->records + i,
                                    .count = work->count - i < PIECE ? work->count - i : PIECE};
        expression_select(expression, &batch, i, selected);
    }
    expression_free(expression);
    return true;
}

static bool dump(struct work *work)
{
    char command[2 * FOLDER_PATH_BYTES + 128];
    const char *build = getenv("BUILD");
    snprintf(command, sizeof command, "'%s/b2a' '%s' >/dev/null", build ? build : "build",
             work->raw);
    return system(command) == 0;
}

static bool decompress(struct work *work)
{
    const struct record_input_settings settings = {.count = UINT64_MAX};
    char *path = work->capture;
    struct record_input *input;
    const struct batch *batch;
    struct bt_error error;
    if (record_input_open(&input, 1, &path, &settings, &error) < 0)
        return false;
    while (record_input_next(input, &batch, &error) == 1)
        ;
    return record_input_close(input) == 0;
}

static bool report(struct work *work, const char *what, path_function *path, double *bandwidth)
{
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        struct measure measure;
        measure_begin(&measure);
        if (!path(work))
            return false;
        measure_end(&measure);
        const double seconds = measure.cpu + measure.cpu_children;
        best = seconds < best ? seconds : best;
    }
    const double rate = (double)work->count * sizeof *work->records / best;
    if (*bandwidth == 0)
        *bandwidth = rate;
    printf("  %-14s %7.2f ns a record, %6.2f GB/s, %5.1f %% of reading\n", what,
           1e9 * best / (double)work->count, rate / 1e9, 100 * rate / *bandwidth);
    return true;
}

static bool report_all(struct work *work)
{
    static const struct {
        const char *name;
        path_function *path;
    } paths[] = {{"reading", read_only}, {"copying", copy_only},
                 {"filter", filter},     {"direct mapped", direct_mapped},
                 {"two levels", two},    {"fifo", fifo},
                 {"classify", classify}, {"mrc, exact", exact_curve},
                 {"dump", dump},         {"decompress", decompress},
                 {"mesi", mesi}};
    double bandwidth = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (paths[i].path == mesi)
            for (size_t k = 0; k < work->count; k++)
                work->records[k].processor = (uint8_t)(k / 64 % 4);
        if (!report(work, paths[i].name, paths[i].path, &bandwidth)) {
            fprintf(stderr, "bench_bandwidth: %s failed\n", paths[i].name);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct work work = {.count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 8) * 1000000};
    char folder[FOLDER_PATH_BYTES];
    char prefix[FOLDER_PATH_BYTES + 32];
    size_t references;
    bool real = false;
    work.records = large_trace_new(work.count, &references, &real);
    work.copy = malloc(work.count * sizeof *work.copy + 1);
    if (!work.records || !work.copy) {
        fprintf(stderr, "bench_bandwidth: cannot begin\n");
        free(work.records);
        free(work.copy);
        return 3;
    }
    folder_make(folder);
    snprintf(work.raw, sizeof work.raw, "%s/raw.byu", folder);
    snprintf(prefix, sizeof prefix, "%s/capture", folder);
    printf("bandwidth: %.0f million records, from %s\n", (double)work.count / 1e6,
           real ? "a Pentium II's bus" : "a generator");
    const bool good = raw_file_write(work.raw, work.records, work.count) == 0 &&
                      raw_capture_write(work.raw, prefix, work.capture, sizeof work.capture) == 0 &&
                      report_all(&work);
    folder_remove(folder);
    free(work.records);
    free(work.copy);
    return good ? 0 : 3;
}
