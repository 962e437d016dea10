/* The part of a study that runs for every reference. */
#include "formats/base/grow.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/mrc_study_internal.h"
#include "tools/mrc/sample.h"
#include "tools/mrc/shards.h"

#define RECORD_LINES_MAX 256u /* maximum number of lines of one record */

struct series *mrc_study_find_series(struct mrc_study *study, unsigned number,
                                     struct bt_error *error)
{
    if (!study->series[number])
        study->series[number] =
            series_new(study->settings.sample < SAMPLE_ALL || study->settings.sample_lines > 0,
                       &study->window_counts_left, error);
    return study->series[number];
}

/* Whether the study has a single curve, without windows and sampling. */
static bool is_plain(const struct mrc_study *study)
{
    const struct mrc_study_settings *settings = &study->settings;
    return settings->kind == BANK_DISTANCES && !settings->by_processor && !settings->split &&
           !settings->by_kind && settings->sample == SAMPLE_ALL && settings->sample_lines == 0 &&
           settings->window.unit == WINDOW_NONE;
}

/* Specialisation of the general case below for a single curve. */
static size_t fill_plain(struct mrc_study *study, const struct record *records, size_t count)
{
    const unsigned shift = study->line_shift;
    uint32_t *lines = study->run.lines;
    size_t some = 0;
    size_t taken = 0;
    for (; taken < count && some <= BANK_RUN_MAX - RECORD_LINES_MAX; taken++) {
        const struct record *record = &records[taken];
        if (study->kind[record->type] == REFERENCE_NONE) {
            study->totals.dropped++;
            continue;
        }
        const uint32_t last = record->address + reference_bytes(record) - 1;
        uint32_t line = record->address >> shift;
        lines[some++] = line;
        while (line != last >> shift) {
            line = (line + 1) & UINT32_MAX >> shift;
            lines[some++] = line;
        }
    }
    study->run.count = some;
    study->touches += some;
    return taken;
}

/* Adds one reference to a line to the run. Its series exists. */
static void touch(struct mrc_study *study, uint32_t line, unsigned processor, unsigned kind)
{
    struct bank_run *run = &study->run;
    const size_t place = run->count;
    const uint64_t time = study->settings.ticks ? study->tick : study->touches;
    const unsigned series = processor * study->series_a_processor + study->series_of_kind[kind];
    study->touches++;
    study->series[series]->references++;
    if (study->settings.sample < SAMPLE_ALL && !sample_follows(line, study->settings.sample))
        return;
    run->lines[place] = line;
    run->caches[place] =
        (uint16_t)(processor * study->caches_a_processor + study->cache_of_kind[kind]);
    run->numbers[place] = study->settings.kind == BANK_WINDOWS     ? study->window
                          : study->settings.kind == BANK_SIMULATED ? study->origins[processor]
                                                                   : time;
    study->series_of[place] = (uint16_t)series;
    study->times[place] = time;
    run->count++;
}

/* Counts a reference in a sample of a fixed number of lines. It stands for as many references as
 * the limit says at this moment, and so do the lines of its distance. */
static int touch_sampled(struct mrc_study *study, uint32_t line, struct bt_error *error)
{
    struct series *series = study->series[0];
    const double scale = (double)SAMPLE_ALL / (double)study->settings.sample;
    uint64_t distance;
    study->touches++;
    series->references++;
    if (!sample_follows(line, study->settings.sample))
        return 0;
    if (shards_reference(study->shards, line, &distance, error) < 0)
        return error->code;
    const double scaled = (double)distance * scale;
    const unsigned bucket = distance == SHARDS_COLD ? BUCKETS_DISTANCE
                            : scaled < UINT32_MAX   ? buckets_of((uint64_t)scaled)
                                                    : BUCKETS_DISTANCE - 1;
    series->groups[sample_group(line) * (BUCKETS_DISTANCE + 1) + bucket] +=
        (uint64_t)(scale * SERIES_WEIGHT + 0.5);
    study->settings.sample = shards_limit(study->shards);
    return 0;
}

/* Adds all references of a record. */
static int touch_all(struct mrc_study *study, const struct record *record, struct bt_error *error)
{
    const unsigned shift = study->line_shift;
    const unsigned kind = study->kind[record->type];
    study->tick += record->time;
    if (kind == REFERENCE_NONE) {
        study->totals.dropped++;
        return 0;
    }
    const unsigned series =
        record->processor * study->series_a_processor + study->series_of_kind[kind];
    if (!study->series[series] && !mrc_study_find_series(study, series, error))
        return error->code;
    if (kind == REFERENCE_FETCH)
        study->origins[record->processor] = SIMULATED_ORIGIN(record->address);
    const uint32_t last = record->address + reference_bytes(record) - 1;
    for (uint32_t line = record->address >> shift;; line = (line + 1) & UINT32_MAX >> shift) {
        if (!study->shards)
            touch(study, line, record->processor, kind);
        else if (touch_sampled(study, line, error) < 0)
            return error->code;
        if (line == last >> shift)
            return 0;
    }
}

int mrc_study_fill(struct mrc_study *study, const struct record *records, size_t count,
                   size_t *taken, struct bt_error *error)
{
    if (is_plain(study)) {
        *taken = fill_plain(study, records, count);
        return 0;
    }
    study->run.count = 0;
    for (*taken = 0; *taken < count && study->run.count <= BANK_RUN_MAX - RECORD_LINES_MAX;
         ++*taken)
        if (touch_all(study, &records[*taken], error) < 0)
            return error->code;
    return 0;
}

/* The first reference to a line in this part; in the first part it is cold. */
static int keep_pending(struct mrc_study *study, size_t place, struct bt_error *error)
{
    struct pending_list *list = &study->pending;
    void *grown =
        grow_array(list->entries, &list->capacity, list->count + 1, sizeof *list->entries);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for %zu references of another part",
                       list->count);
    list->entries = grown;
    list->entries[list->count++] = (struct pending){
        .line = study->run.lines[place],
        .series = study->series_of[place],
        .window = study->window,
        .time = study->resolving ? study->run.numbers[place] : study->times[place]};
    return 0;
}

/* Counts the outcomes for a single curve. */
static int count_plain(struct mrc_study *study, struct series *series, struct bt_error *error)
{
    const struct bank_run *run = &study->run;
    uint32_t above = 0;
    for (size_t i = 0; i < run->count; i++) /* BANK_COLD + 1 is 0 */
        above = above > run->outcomes[i] + 1 ? above : run->outcomes[i] + 1;
    if (histogram_reserve(&series->distances, above, error) < 0)
        return error->code;
    uint32_t *counts = series->distances.counts;
    for (size_t i = 0; above > 0 && i < run->count; i++) /* above 0: counts may be unallocated */
        __builtin_prefetch(&counts[run->outcomes[i] == BANK_COLD ? 0 : run->outcomes[i]], 1);
    for (size_t i = 0; i < run->count; i++) {
        const uint32_t distance = run->outcomes[i];
        if (distance == BANK_COLD) {
            if (study->leading)
                series->cold++;
            else if (keep_pending(study, i, error) < 0)
                return error->code;
        } else if (counts[distance] != UINT32_MAX) {
            counts[distance]++;
        } else if (histogram_add(&series->distances, distance, 1, error) < 0) {
            return error->code;
        }
    }
    return 0;
}

/* Counts an outcome in its window. */
static int count_in_window(struct mrc_study *study, struct series *series, uint32_t bucket,
                           struct bt_error *error)
{
    uint64_t *counts = series_window(series, study->window, study->buckets, error);
    if (!counts)
        return error->code;
    counts[bucket]++;
    return 0;
}

static int count_distance(struct series *series, uint32_t line, uint32_t distance,
                          struct bt_error *error)
{
    if (series->groups)
        series->groups[sample_group(line) * (BUCKETS_DISTANCE + 1) + buckets_of(distance)]++;
    if (histogram_reserve(&series->distances, (size_t)distance + 1, error) < 0)
        return error->code;
    return histogram_add(&series->distances, distance, 1, error);
}

/* Counts a cold reference. */
static int count_cold(struct mrc_study *study, struct series *series, uint32_t line,
                      struct bt_error *error)
{
    series->cold++;
    if (series->groups)
        series->groups[sample_group(line) * (BUCKETS_DISTANCE + 1) + BUCKETS_DISTANCE]++;
    if (study->settings.window.unit == WINDOW_NONE && study->settings.kind == BANK_DISTANCES)
        return 0;
    return count_in_window(study, series, study->buckets, error);
}

/* Counts the outcome of one reference of the run. */
static int count_outcome(struct mrc_study *study, size_t place, struct bt_error *error)
{
    const uint32_t outcome = study->run.outcomes[place];
    const uint32_t line = study->run.lines[place];
    struct series *series = mrc_study_find_series(study, study->series_of[place], error);
    if (!series)
        return error->code;
    if (outcome != BANK_COLD) {
        if (study->settings.kind == BANK_DISTANCES && study->settings.window.unit == WINDOW_NONE)
            return count_distance(series, line, outcome, error);
        return count_in_window(
            study, series, study->settings.kind == BANK_DISTANCES ? buckets_of(outcome) : outcome,
            error);
    }
    /* a line first met in this part was not referenced before in a window that began in it */
    if (study->settings.kind == BANK_WINDOWS &&
        (study->leading || study->window > study->first_window))
        return count_in_window(study, series, BANK_FIRST, error);
    return study->leading ? count_cold(study, series, line, error)
                          : keep_pending(study, place, error);
}

int mrc_study_run(struct mrc_study *study, struct bt_error *error)
{
    if (study->simulated)
        return simulated_run(study->simulated, &study->run, study->series_of, error);
    if (bank_run(study->bank, &study->run, error) < 0)
        return error->code;
    if (is_plain(study)) {
        struct series *series = mrc_study_find_series(study, 0, error);
        if (!series)
            return error->code;
        if (!study->resolving)
            series->references += study->run.count;
        return count_plain(study, series, error);
    }
    for (size_t i = 0; i < study->run.count; i++)
        if (count_outcome(study, i, error) < 0)
            return error->code;
    return 0;
}
