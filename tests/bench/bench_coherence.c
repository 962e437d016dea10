/*
 * Four coherent processors: simulated references a second of processor time, beside a plain
 * simulator of the same caches (tests/support/plain_mesi.h) in the same run. The counts of both
 * must agree.
 *
 * usage: bench_coherence [MILLION_RECORDS]     (4); SHARED has the real trace, where there is one
 */
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tests/support/plain_mesi.h"
#include "tools/cache/model/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS        5
#define PIECE        16384u
#define TURN_RECORDS 64u

struct work {
    struct record *records;
    size_t count;
    size_t references;
};

static struct hierarchy_settings caches(void)
{
    struct hierarchy_settings settings = {
        .level_count = 2, .coherence = CACHE_MESI, .no_flush = true};
    const struct cache_settings first = {.size = 16u << 10, .line = 32, .ways = 4};
    settings.levels[0].split = true;
    settings.levels[0].sides[0] = settings.levels[0].sides[1] = first;
    settings.levels[1].shared = true;
    settings.levels[1].sides[0] = (struct cache_settings){.size = 1u << 20, .line = 32, .ways = 8};
    return settings;
}

static struct plain_mesi_counts counts_of(const struct hierarchy *hierarchy)
{
    struct plain_mesi_counts counts = {.first_misses = 0};
    for (unsigned i = 0; i < 2 * PLAIN_MESI_PROCESSORS; i++) {
        const struct cache_counters one =
            hierarchy_cache_counters(hierarchy, 0, (uint8_t)(i / 2), (enum cache_side)(i % 2));
        counts.first_misses += reference_kinds_sum(one.misses);
        counts.interventions += one.interventions;
        counts.invalidations += one.invalidations;
        counts.upgrades += one.upgrades;
        counts.write_backs += one.write_backs;
    }
    const struct cache_counters second = hierarchy_cache_counters(hierarchy, 1, 0, CACHE_DATA);
    counts.second_misses = reference_kinds_sum(second.misses);
    return counts;
}

/* Returns processor time. */
static double simulate(const struct work *work, struct plain_mesi_counts *counts)
{
    const struct hierarchy_settings settings = caches();
    struct hierarchy *hierarchy;
    struct measure measure;
    struct bt_error error;
    measure_begin(&measure);
    int result = hierarchy_new(&hierarchy, &settings, &error);
    for (size_t i = 0; i < work->count && result == 0; i += PIECE)
        result = hierarchy_put(hierarchy, work->records + i,
                               work->count - i < PIECE ? work->count - i : PIECE, &error);
    measure_end(&measure);
    if (result < 0) {
        fprintf(stderr, "bench_coherence: %s\n", error.message);
        exit(3);
    }
    *counts = counts_of(hierarchy);
    hierarchy_free(hierarchy);
    return measure.cpu;
}

static double simulate_plainly(const struct work *work, struct plain_mesi_counts *counts)
{
    struct measure measure;
    measure_begin(&measure);
    if (plain_mesi(work->records, work->count, counts) < 0)
        exit(3);
    measure_end(&measure);
    return measure.cpu;
}

static int ascending(const void *a, const void *b)
{
    const double one = *(const double *)a;
    const double other = *(const double *)b;
    return (one > other) - (one < other);
}

static int compare(const struct work *work)
{
    double ratios[PAIRS];
    double best = 1e9;
    double best_plain = 1e9;
    struct plain_mesi_counts counts;
    struct plain_mesi_counts plain_counts;
    for (int pair = 0; pair < PAIRS; pair++) {
        const double plain = simulate_plainly(work, &plain_counts);
        const double seconds = simulate(work, &counts);
        if (memcmp(&counts, &plain_counts, sizeof counts) != 0) {
            fprintf(stderr, "bench_coherence: the plain simulator counts otherwise\n");
            return 3;
        }
        best = seconds < best ? seconds : best;
        best_plain = plain < best_plain ? plain : best_plain;
        ratios[pair] = plain / seconds;
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    const double references = (double)work->references;
    printf("  %-18s %6.1f ns a reference\n", "plain simulator", 1e9 * best_plain / references);
    printf("  %-18s %6.1f ns a reference, %.2f times as fast (%.2f to %.2f)\n", "bustap cache",
           1e9 * best / references, ratios[PAIRS / 2], ratios[0], ratios[PAIRS - 1]);
    printf("  %.1f %% of the references miss level 1, %.1f %% upgrade, %.1f %% are supplied by "
           "another cache\n",
           100 * (double)counts.first_misses / references,
           100 * (double)counts.upgrades / references,
           100 * (double)counts.interventions / references);
    return 0;
}

int main(int argc, char **argv)
{
    struct work work = {.count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 4) * 1000000};
    bool real = false;
    work.records = large_trace_new(work.count, &work.references, &real);
    if (!work.records) {
        fprintf(stderr, "bench_coherence: cannot begin\n");
        return 3;
    }
    for (size_t i = 0; i < work.count; i++)
        work.records[i].processor = (uint8_t)(i / TURN_RECORDS % PLAIN_MESI_PROCESSORS);
    printf("coherence: %.0f million records, from %s; 4 processors in turns of %u records, MESI; "
           "split 2 x 16 KiB, 4 ways, above 1 MiB, 8 ways; medians of %d pairs\n",
           (double)work.count / 1e6, real ? "a Pentium II's bus" : "a generator", TURN_RECORDS,
           PAIRS);
    const int result = compare(&work);
    free(work.records);
    return result;
}
