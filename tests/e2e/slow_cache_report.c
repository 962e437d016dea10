/*
 * Simulates a raw BYU trace with the slow simulator (tests/support/slow_cache.h) and prints the
 * report of `bustap cache` without ratios: the rows of --csv, then those of memory and shared
 * lines.
 *
 * usage: slow_cache_report CONFIGURATION TRACE
 */
#include "tests/support/slow_cache.h"
#include "tools/cache/cache_settings_text.h"

#include <inttypes.h>
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

/* Columns that only hierarchies with SHiP have. */
static unsigned signature_columns;

static void put_cache(const struct cache_level *level, unsigned number, unsigned side,
                      int processor, const struct cache_counters *counters)
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
    unsigned first = level->split && side == CACHE_DATA ? REFERENCE_READ : REFERENCE_FETCH;
    unsigned last = level->split && side == CACHE_INSTRUCTION ? REFERENCE_FETCH : REFERENCE_WRITE;
    for (unsigned kind = first; kind <= last; kind++) {
        if (counters->references[kind] + counters->prefetches[kind] == 0)
            continue;
        put_name(level, number, side, processor);
        printf(",%s", reference_kind_name((enum reference_kind)kind));
        put_kinds(counters, kind, kind);
        for (size_t i = 0; i < sizeof others / sizeof *others + signature_columns; i++)
            printf(",");
        printf("\n");
    }
    put_name(level, number, side, processor);
    printf(",all");
    put_kinds(counters, first, last);
    put_numbers(others, sizeof others / sizeof *others);
    put_numbers(signatures, signature_columns);
    printf("\n");
}

static void put_side(const struct slow_cache *cache, const struct cache_level *level,
                     unsigned number, unsigned side)
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
        put_cache(level, number, side, -1, &sum);
    for (unsigned i = 0; !level->shared && i < CACHE_PROCESSORS; i++) {
        struct cache_counters own =
            slow_cache_cache_counters(cache, number, (uint8_t)i, (enum cache_side)side);
        if (slow_cache_has_processor(cache, (uint8_t)i))
            put_cache(level, number, side, (int)i, &own);
    }
}

static void put_all(const struct slow_cache *cache, const struct hierarchy_settings *settings)
{
    struct hierarchy_counters counters;
    struct cache_line_counters *lines;
    size_t count;
    for (unsigned number = 0; number < settings->level_count; number++)
        for (unsigned side = 0; side < sides(&settings->levels[number]); side++)
            if (settings->levels[number].sides[side].replacement == CACHE_SHIP)
                signature_columns = 2;
    for (unsigned number = 0; number < settings->level_count; number++)
        for (unsigned side = 0; side < sides(&settings->levels[number]); side++)
            put_side(cache, &settings->levels[number], number, side);
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
    if (argc != 3 || settings_file_read(&text, argv[1], &error) < 0 ||
        settings_text_end(&text, &error) < 0) {
        fprintf(stderr, "slow_cache_report: %s\n",
                argc == 3 ? error.message : "CONFIGURATION TRACE");
        return EXIT_FAILURE;
    }
    struct slow_cache *cache = slow_cache_new(&text.settings);
    if (!cache)
        return EXIT_FAILURE;
    int status = simulate(cache, argv[2]);
    put_all(cache, &text.settings);
    if (slow_cache_broken(cache)) {
        fprintf(stderr, "slow_cache_report: %s\n", slow_cache_broken(cache));
        status = EXIT_FAILURE;
    }
    slow_cache_free(cache);
    return status;
}
