/*
 * What the options of `bustap cache` cost: replacement policies, prefetchers, the optimum, kinds of
 * misses, coherence, TLBs, warm-up and intervals, each as the ratio of its time to that of the same
 * hierarchy with plain LRU caches. Each is measured in pairs with that, one after the other.
 *
 * usage: bench_policies [MILLION_RECORDS]     (4); SHARED has the real trace, where there is one
 */
#include "tests/support/large_trace.h"
#include "tests/support/measure.h"
#include "tools/cache/study/simulation.h"
#include "tools/cache/study/tlb.h"

#include <stdio.h>
#include <stdlib.h>

#define PAIRS        5
#define PIECE        16384u
#define TURN_RECORDS 64u

struct work {
    struct record *records;
    size_t count;
    size_t references;
};

/* A row of the report: how it differs from plain LRU caches. */
struct subject {
    const char *name;
    enum cache_replacement replacement;
    enum cache_prefetcher prefetcher;
    enum cache_coherence coherence; /* four processors, beside four without coherence */
    bool optimum, sample, classify, tlb, warm, intervals;
};

static const struct subject subjects[] = {{.name = "fifo", .replacement = CACHE_FIFO},
                                          {.name = "random", .replacement = CACHE_RANDOM},
                                          {.name = "plru", .replacement = CACHE_PLRU},
                                          {.name = "nru", .replacement = CACHE_NRU},
                                          {.name = "srrip", .replacement = CACHE_SRRIP},
                                          {.name = "brrip", .replacement = CACHE_BRRIP},
                                          {.name = "drrip", .replacement = CACHE_DRRIP},
                                          {.name = "ship", .replacement = CACHE_SHIP},
                                          {.name = "lfu", .replacement = CACHE_LFU},
                                          {.name = "next", .prefetcher = CACHE_NEXT_LINE},
                                          {.name = "stride", .prefetcher = CACHE_STRIDE},
                                          {.name = "stream", .prefetcher = CACHE_STREAM},
                                          {.name = "markov", .prefetcher = CACHE_MARKOV},
                                          {.name = "optimum estimated", .sample = true},
                                          {.name = "optimum", .optimum = true},
                                          {.name = "classify", .classify = true},
                                          {.name = "tlb", .tlb = true},
                                          {.name = "warm", .warm = true},
                                          {.name = "interval", .intervals = true},
                                          {.name = "msi", .coherence = CACHE_MSI},
                                          {.name = "mesi", .coherence = CACHE_MESI},
                                          {.name = "mesif", .coherence = CACHE_MESIF},
                                          {.name = "moesi", .coherence = CACHE_MOESI}};

/* Two levels: split 2 x 16 KiB with 4 ways, 1 MiB with 8 ways. */
static struct hierarchy_settings settings_of(const struct subject *subject)
{
    struct hierarchy_settings settings = {.level_count = 2,
                                          .coherence = subject->coherence,
                                          .optimum = subject->optimum,
                                          .optimum_sample = subject->sample,
                                          .classify = subject->classify};
    const struct cache_settings cache = {.size = 16u << 10,
                                         .line = 32,
                                         .ways = 4,
                                         .replacement = subject->replacement,
                                         .prefetcher = subject->prefetcher,
                                         .prefetch_degree = 1,
                                         .prefetch_distance = 1,
                                         .prefetch_page = 4096};
    settings.levels[0].split = true;
    settings.levels[0].sides[0] = settings.levels[0].sides[1] = cache;
    settings.levels[1].shared = true;
    settings.levels[1].sides[0] = cache;
    settings.levels[1].sides[0].size = 1u << 20;
    settings.levels[1].sides[0].ways = 8;
    return settings;
}

static int put_all(const struct work *work, struct simulation *simulation, struct tlb *tlb,
                   struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < work->count && result == 0; i += PIECE) {
        struct batch batch = {.records = work->records + i,
                              .count = work->count - i < PIECE ? work->count - i : PIECE};
        result = sink_put(simulation_sink(simulation), &batch, error);
        if (result == 0 && tlb)
            result = sink_put(tlb_sink(tlb), &batch, error);
    }
    return result;
}

/* Processor time of one simulation. */
static double seconds_of(const struct work *work, const struct subject *subject)
{
    const struct hierarchy_settings settings = settings_of(subject);
    const struct tlb_settings tlb_settings = tlb_settings_default();
    const struct extent warm = {.length = subject->warm ? work->count / 2 : 0,
                                .unit = subject->warm ? EXTENT_REQUESTS : EXTENT_NONE};
    const struct extent interval = {.length = subject->intervals ? work->count / 100 : 0,
                                    .unit = subject->intervals ? EXTENT_REQUESTS : EXTENT_NONE};
    const struct phases phases = phases_begin(&warm, &interval);
    struct simulation *simulation = NULL;
    struct tlb *tlb = NULL;
    struct cache_results results = {.cache_count = 0};
    struct measure measure;
    struct bt_error error;
    measure_begin(&measure);
    int result = simulation_new(&simulation, &settings, 1, NULL, &error);
    if (result == 0 && subject->tlb)
        result = tlb_new(&tlb, &tlb_settings, &error);
    if (result == 0)
        simulation_divide(simulation, &phases);
    if (result == 0)
        result = put_all(work, simulation, tlb, &error);
    if (result == 0)
        result = simulation_end(simulation, &results, &error);
    measure_end(&measure);
    cache_results_clear(&results);
    simulation_free(simulation);
    tlb_free(tlb);
    if (result < 0) {
        fprintf(stderr, "bench_policies: %s: %s\n", subject->name, error.message);
        exit(3);
    }
    return measure.cpu;
}

static int ascending(const void *a, const void *b)
{
    const double one = *(const double *)a;
    const double other = *(const double *)b;
    return (one > other) - (one < other);
}

static void report(const struct work *work, const struct subject *subject)
{
    const struct subject plain = {.name = "lru"};
    double ratios[PAIRS];
    double best = 1e9;
    for (int pair = 0; pair < PAIRS; pair++) {
        const double before = seconds_of(work, &plain);
        const double seconds = seconds_of(work, subject);
        best = seconds < best ? seconds : best;
        ratios[pair] = seconds / before;
    }
    qsort(ratios, PAIRS, sizeof *ratios, ascending);
    printf("  %-17s %7.1f million references/s, %6.2f times the time of lru (%.2f to %.2f)\n",
           subject->name, (double)work->references / best / 1e6, ratios[PAIRS / 2], ratios[0],
           ratios[PAIRS - 1]);
}

int main(int argc, char **argv)
{
    struct work work = {.count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 4) * 1000000};
    bool real = false;
    work.records = large_trace_new(work.count, &work.references, &real);
    if (!work.records) {
        fprintf(stderr, "bench_policies: cannot begin\n");
        return 3;
    }
    printf("policies: %.0f million records, from %s; split 2 x 16 KiB, 4 ways, above 1 MiB, 8 "
           "ways; medians of %d pairs\n",
           (double)work.count / 1e6, real ? "a Pentium II's bus" : "a generator", PAIRS);
    bool turns = false;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (subjects[i].coherence != CACHE_INCOHERENT && !turns) {
            turns = true;
            printf("  four processors, in turns of %u records, without coherence and with it\n",
                   TURN_RECORDS);
            for (size_t k = 0; k < work.count; k++)
                work.records[k].processor = (uint8_t)(k / TURN_RECORDS % 4);
        }
        report(&work, &subjects[i]);
    }
    free(work.records);
    return 0;
}
