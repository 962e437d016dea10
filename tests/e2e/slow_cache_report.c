/*
 * Simulates a raw BYU trace with the slow simulator (tests/support/slow_cache.h) and prints the
 * report of `bustap cache` without miss ratios: the rows of --csv, then those of memory and shared
 * lines.
 *
 * usage: slow_cache_report none|count|estimate CONFIGURATION TRACE     the first: the optimum
 */
#include "tests/support/slow_cache.h"
#include "tools/cache/cache_settings_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_names[] = {"instruction", "data"};

static unsigned sides(const struct cache_level *level)
{
    return level->split ? CACHE_SIDES : 1;
}

static void put_name(const struct cache_level *level, unsigned number, unsigned side, int processor)
{
    printf("%u,%s,", number + 1, level->split ? side_names[side] : "unified");
    if (processor >= 0)
        printf("%d", processor);
}

static void put_numbers(const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf(",%" PRIu64, numbers[i]);
}

/* The counters that are kept by kind, of kinds first to last. */
static void put_kinds(const struct cache_counters *counters, unsigned first, unsigned last)
{
    uint64_t sums[10] = {0};
    for (unsigned kind = first; kind <= last; kind++) {
        const uint64_t own[10] = {counters->references[kind],      counters->misses[kind],
                                  counters->line_misses[kind],     counters->prefetches[kind],
                                  counters->prefetch_misses[kind], counters->compulsory[kind],
                                  counters->capacity[kind],        counters->conflict[kind],
                                  counters->true_sharing[kind],    counters->false_sharing[kind]};
        for (size_t i = 0; i < 10; i++)
            sums[i] += own[i];
    }
    put_numbers(sums, 10);
}

/* Columns that only some hierarchies have. */
struct columns {
    bool signatures, prefetchers, optimum, estimate;
};

static uint64_t sets_of(const struct cache_settings *cache)
{
    return cache->ways == 0 ? 1 : cache->size / cache->line / cache->ways;
}

static bool has_estimate(const struct cache_settings *cache)
{
    return sets_of(cache) >= 64;
}

static struct columns columns_of(const struct hierarchy_settings *settings)
{
    struct columns columns = {.optimum = settings->optimum || settings->optimum_sample};
    for (unsigned number = 0; number < settings->level_count; number++)
        for (unsigned side = 0; side < sides(&settings->levels[number]); side++) {
            const struct cache_settings *cache = &settings->levels[number].sides[side];
            columns.signatures |= cache->replacement == CACHE_SHIP;
            columns.prefetchers |= cache->prefetcher != CACHE_NO_PREFETCHER;
            columns.estimate |= settings->optimum_sample && has_estimate(cache);
        }
    columns.optimum = columns.optimum && !columns.estimate;
    return columns;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Widens an interval by that of the groups of a class that are not counted: doc/cache-model.md,
 * "Its estimate". u: most of each group; o: the optimum's misses of the first 8. */
static void add_class(const double u[64], const double o[8], double above, double to, double *low,
                      double *high)
{
    double n = 0, rest = 0, most = 0, optimum = 0, others = 0, largest = 0, x = 0, squares = 0;
    for (unsigned g = 0; g < 64; g++) {
        if (u[g] <= above || u[g] > to)
            continue;
        if (g < 8) {
            n++;
            most += u[g];
            optimum += o[g];
            largest = fmax(largest, u[g]);
        } else {
            rest++;
            others += u[g];
        }
    }
    *low += optimum;
    *high += optimum;
    if (n < 4 || most == 0 || rest == 0) {
        *high += others;
        return;
    }
    const double r = optimum / most;
    for (unsigned g = 0; g < 64; g++)
        if (u[g] > above && u[g] <= to) {
            x += g >= 8 && u[g] > largest ? u[g] - largest : 0;
            squares += g < 8 ? pow(o[g] - r * u[g], 2) : 0;
        }
    squares += pow(fmax(r, 1 - r) * most / n / 4, 2);
    const double t = n == 4 ? 3.182 : n == 5 ? 2.776 : n == 6 ? 2.571 : n == 7 ? 2.447 : 2.365;
    const double h =
        t * sqrt(rest * (rest + n) / n * squares / (n - 1)) * fmax(1, others / rest / (most / n));
    *low += fmax(0, r * (others - x) - h);
    *high += fmin(others, r * (others - x) + x + h);
}

/* The estimate of kinds first to last together. */
static void put_estimate(const struct cache_settings *cache, const struct cache_counters *counters,
                         unsigned first, unsigned last)
{
    double u[64], sorted[64], o[8] = {0}, references = 0, low = 0, high = 0;
    for (unsigned group = 0; group < 64; group++)
        u[group] = sorted[group] = (double)counters->sample_misses[group];
    for (unsigned kind = first; kind <= last; kind++) {
        references += (double)counters->references[kind];
        for (unsigned group = 0; group < 8; group++)
            o[group] += (double)counters->sample_optimum[group][kind];
        if (!has_estimate(cache))
            low += (double)counters->optimum_misses[kind];
    }
    if (has_estimate(cache)) {
        qsort(sorted, 64, sizeof *sorted, by_value);
        add_class(u, o, -1, 4 * sorted[32], &low, &high);
        add_class(u, o, 4 * sorted[32], INFINITY, &low, &high);
        high = fmax(low, fmin(high, references));
    } else {
        high = low;
    }
    printf(",%.0f", floor((low + high) / 2 + 0.5));
    if (references > 0)
        printf(",%g,%g", (low + high) / 2 / references, (high - low) / 2 / references);
    else
        printf(",,");
}

static void put_optimum(const struct columns *columns, const struct cache_settings *cache,
                        const struct cache_counters *counters, unsigned first, unsigned last)
{
    uint64_t references = 0, optimum = 0;
    for (unsigned kind = first; kind <= last; kind++) {
        references += counters->references[kind];
        optimum += counters->optimum_misses[kind];
    }
    if (columns->estimate)
        put_estimate(cache, counters, first, last);
    if (!columns->optimum)
        return;
    printf(",%" PRIu64 ",", optimum);
    if (references > 0)
        printf("%g", (double)optimum / (double)references);
}

static void put_ratio(uint64_t count, uint64_t all)
{
    if (all > 0)
        printf(",%g", (double)count / (double)all);
    else
        printf(",");
}

/* The use of prefetches, the bytes of these, their accuracy and coverage. */
static void put_prefetcher(const struct cache_settings *cache,
                           const struct cache_counters *counters)
{
    const uint64_t used = counters->prefetch_covered + counters->prefetch_late;
    if (cache->prefetcher == CACHE_NO_PREFETCHER) {
        printf(",0,0,0,0,,");
        return;
    }
    const uint64_t numbers[] = {counters->prefetch_covered, counters->prefetch_late,
                                counters->prefetch_useless,
                                reference_kinds_sum(counters->prefetch_misses) * cache->line};
    put_numbers(numbers, 4);
    put_ratio(used, reference_kinds_sum(counters->prefetch_misses));
    put_ratio(used, used + reference_kinds_sum(counters->misses));
}

/* A row of kinds first to last. */
static void put_row(const struct columns *columns, const struct cache_level *level, unsigned side,
                    const struct cache_counters *counters, unsigned first, unsigned last)
{
    put_kinds(counters, first, last);
    put_optimum(columns, &level->sides[side], counters, first, last);
}

static void put_cache(const struct columns *columns, const struct cache_level *level,
                      unsigned number, unsigned side, int processor,
                      const struct cache_counters *counters)
{
    const uint64_t signatures[] = {counters->signed_by_instruction, counters->signed_by_region};
    const uint64_t others[] = {counters->fills,
                               counters->fill_bytes,
                               counters->write_backs,
                               counters->write_back_bytes,
                               counters->write_throughs,
                               counters->write_through_bytes,
                               counters->split,
                               counters->victim_hits,
                               counters->insertions,
                               counters->back_invalidations,
                               counters->invalidations,
                               counters->interventions,
                               counters->upgrades,
                               counters->snoop_write_backs,
                               counters->received,
                               counters->clean_interventions,
                               counters->intervention_bytes,
                               counters->clean_intervention_bytes};
    const size_t empty = sizeof others / sizeof *others + (columns->signatures ? 2 : 0) +
                         (columns->prefetchers ? 6 : 0);
    unsigned first = level->split && side == CACHE_DATA ? REFERENCE_READ : REFERENCE_FETCH;
    unsigned last = level->split && side == CACHE_INSTRUCTION ? REFERENCE_FETCH : REFERENCE_WRITE;
    for (unsigned kind = first; kind <= last; kind++) {
        if (counters->references[kind] + counters->prefetches[kind] == 0)
            continue;
        put_name(level, number, side, processor);
        printf(",%s", reference_kind_name((enum reference_kind)kind));
        put_row(columns, level, side, counters, kind, kind);
        for (size_t i = 0; i < empty; i++)
            printf(",");
        printf("\n");
    }
    put_name(level, number, side, processor);
    printf(",all");
    put_row(columns, level, side, counters, first, last);
    put_numbers(others, sizeof others / sizeof *others);
    put_numbers(signatures, columns->signatures ? 2 : 0);
    if (columns->prefetchers)
        put_prefetcher(&level->sides[side], counters);
    printf("\n");
}

static void put_side(const struct slow_cache *cache, const struct columns *columns,
                     const struct cache_level *level, unsigned number, unsigned side)
{
    struct cache_counters sum = {.split = 0};
    unsigned processors = 0;
    for (unsigned i = 0; i < CACHE_PROCESSORS; i++) {
        struct cache_counters own =
            slow_cache_cache_counters(cache, number, (uint8_t)i, (enum cache_side)side);
        processors += slow_cache_has_processor(cache, (uint8_t)i);
        if (!level->shared || i == 0)
            cache_counters_add(&sum, &own);
    }
    if (level->shared || processors > 1)
        put_cache(columns, level, number, side, -1, &sum);
    for (unsigned i = 0; !level->shared && i < CACHE_PROCESSORS; i++) {
        struct cache_counters own =
            slow_cache_cache_counters(cache, number, (uint8_t)i, (enum cache_side)side);
        if (slow_cache_has_processor(cache, (uint8_t)i))
            put_cache(columns, level, number, side, (int)i, &own);
    }
}

static void put_all(const struct slow_cache *cache, const struct hierarchy_settings *settings)
{
    struct hierarchy_counters counters;
    struct cache_line_counters *lines;
    size_t count;
    const struct columns columns = columns_of(settings);
    for (unsigned number = 0; number < settings->level_count; number++)
        for (unsigned side = 0; side < sides(&settings->levels[number]); side++)
            put_side(cache, &columns, &settings->levels[number], number, side);
    slow_cache_counters(cache, &counters);
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++)
        printf("memory,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
               reference_kind_name((enum reference_kind)kind), counters.memory_references[kind],
               counters.memory_bytes[kind], counters.uncached[kind],
               counters.write_combining[kind]);
    slow_cache_lines(cache, &lines, &count);
    for (size_t i = 0; i < count; i++)
        printf("line,0x%" PRIx32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
               ",%" PRIu64 "\n",
               lines[i].address, lines[i].invalidations, lines[i].interventions, lines[i].upgrades,
               lines[i].write_backs, lines[i].true_sharing, lines[i].false_sharing);
    free(lines);
}

static int simulate(struct slow_cache *cache, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t bytes[RECORD_BYTES];
    if (!file) {
        perror(path);
        return EXIT_FAILURE;
    }
    while (fread(bytes, 1, sizeof bytes, file) == sizeof bytes) {
        struct record record = record_get(bytes);
        slow_cache_put(cache, &record, 1);
    }
    fclose(file);
    slow_cache_end(cache);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct settings_text text;
    struct bt_error error;
    settings_text_begin(&text);
    if (argc != 4 || settings_file_read(&text, argv[2], &error) < 0 ||
        settings_text_end(&text, &error) < 0) {
        fprintf(stderr, "slow_cache_report: %s\n",
                argc == 4 ? error.message : "none|count|estimate CONFIGURATION TRACE");
        return EXIT_FAILURE;
    }
    text.settings.optimum = strcmp(argv[1], "count") == 0;
    text.settings.optimum_sample = strcmp(argv[1], "estimate") == 0;
    struct slow_cache *cache = slow_cache_new(&text.settings);
    if (!cache)
        return EXIT_FAILURE;
    int status = simulate(cache, argv[3]);
    put_all(cache, &text.settings);
    if (slow_cache_broken(cache)) {
        fprintf(stderr, "slow_cache_report: %s\n", slow_cache_broken(cache));
        status = EXIT_FAILURE;
    }
    slow_cache_free(cache);
    return status;
}
