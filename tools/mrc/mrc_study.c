#include "tools/mrc/mrc_study.h"

#include "formats/base/saturating.h"
#include "formats/record/reference.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/mrc_study_internal.h"
#include "tools/mrc/sample.h"
#include "tools/mrc/shards.h"

#include <stdlib.h>

static unsigned caches_of(const struct mrc_study_settings *settings)
{
    return (settings->by_processor ? 256u : 1u) * (settings->split ? 2u : 1u);
}

static unsigned kinds_of(const struct mrc_study_settings *settings)
{
    return settings->by_kind ? REFERENCE_KINDS : 1u;
}

unsigned mrc_study_buckets(const struct mrc_study_settings *settings)
{
    switch (settings->kind) {
    case BANK_TIMES:
        return BUCKETS_TIME;
    case BANK_WINDOWS:
        return BANK_FIRST + 1;
    default:
        return BUCKETS_DISTANCE;
    }
}

/* How each type of request is counted: its kind, and the offset of the kind's series. */
static void fill_tables(struct mrc_study *study)
{
    const struct mrc_study_settings *settings = &study->settings;
    for (unsigned type = 0; type < 256; type++)
        study->kind[type] = (uint8_t)reference_kind_of((uint8_t)type);
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
        const unsigned cache = settings->split && kind != REFERENCE_FETCH ? 1 : 0;
        study->cache_of_kind[kind] = (uint16_t)cache;
        study->series_of_kind[kind] =
            (uint16_t)(cache * kinds_of(settings) + (settings->by_kind ? kind : 0));
    }
    study->caches_a_processor =
        (uint16_t)(settings->by_processor ? (settings->split ? 2u : 1u) : 0);
    study->series_a_processor = (uint16_t)(study->caches_a_processor * kinds_of(settings));
    study->kinds = kinds_of(settings);
}

static struct simulated *new_simulated(const struct mrc_study_settings *settings,
                                       struct bt_error *error)
{
    const struct simulated_settings wanted = {.replacement = settings->replacement,
                                              .line_bytes = settings->line_bytes,
                                              .sets = settings->sets,
                                              .caches = caches_of(settings),
                                              .paired = settings->split,
                                              .sampled = settings->sample < SAMPLE_ALL};
    return simulated_new(&wanted, settings->sizes, error);
}

struct mrc_study *mrc_study_new(const struct mrc_study_settings *settings, uint64_t first_record,
                                struct bt_error *error)
{
    struct mrc_study *study = calloc(1, sizeof *study);
    if (!study) {
        bt_fail(error, BT_MEMORY, "no memory for a study");
        return NULL;
    }
    study->settings = *settings;
    study->settings.sizes = NULL; /* the caller's, which simulated_new copies */
    study->leading = first_record == 0;
    study->record = first_record;
    study->first_window = UINT64_MAX;
    study->buckets = mrc_study_buckets(settings);
    study->window_counts_left =
        settings->window_counts_max ? settings->window_counts_max : SERIES_WINDOW_COUNTS_MAX;
    study->line_shift = (unsigned)__builtin_ctz(settings->line_bytes);
    fill_tables(study);
    if (settings->sample_lines > 0)
        study->shards = shards_new(settings->sample_lines, error);
    if (settings->kind == BANK_SIMULATED)
        study->simulated = new_simulated(settings, error);
    else
        study->bank = bank_new(settings->kind, caches_of(settings), settings->sets, error);
    if ((!study->bank && !study->simulated) || (settings->sample_lines > 0 && !study->shards)) {
        mrc_study_free(study);
        return NULL;
    }
    return study;
}

void mrc_study_free(struct mrc_study *study)
{
    if (!study)
        return;
    for (unsigned i = 0; i < MRC_SERIES_MAX; i++)
        series_free(study->series[i]);
    for (unsigned i = 0; i < MRC_SERIES_MAX; i++)
        free(study->taken_misses[i]);
    free(study->taken_sizes);
    simulated_free(study->simulated);
    bank_free(study->bank);
    shards_free(study->shards);
    free(study->pending.entries);
    free(study);
}

/* Number of the next records, at most count, that lie in one window, which becomes the current one.
 * study->tick is the tick before the first of them. */
static size_t same_window(struct mrc_study *study, const struct record *records, size_t count)
{
    const struct mrc_window *window = &study->settings.window;
    uint64_t tick = study->tick + records[0].time;
    size_t same = count;
    if (window->unit == WINDOW_REQUESTS) {
        const uint64_t left = window->length - study->record % window->length;
        study->window = study->record / window->length;
        same = left < count ? (size_t)left : count;
    } else if (window->unit == WINDOW_TICKS) {
        study->window = tick / window->length;
        for (same = 1; same < count; same++) {
            tick += records[same].time;
            if (tick / window->length != study->window)
                break;
        }
    }
    if (study->first_window == UINT64_MAX)
        study->first_window = study->window;
    return same;
}

int mrc_study_put(struct mrc_study *study, const struct batch *batch, struct bt_error *error)
{
    study->totals.lost = saturating_add(study->totals.lost, loss_total(&batch->lost));
    study->totals.gaps += batch->gap.chosen;
    study->totals.requests += batch->count;
    study->tick = batch->count > 0 ? batch->first_tick - batch->records[0].time : 0;
    for (size_t done = 0; done < batch->count;) {
        const struct record *records = batch->records + done;
        const size_t same = same_window(study, records, batch->count - done);
        for (size_t taken = 0, some = 0; taken < same; taken += some)
            if (mrc_study_fill(study, records + taken, same - taken, &some, error) < 0 ||
                mrc_study_run(study, error) < 0)
                return error->code;
        study->record += same;
        done += same;
    }
    return 0;
}

/* Moves pending references of one window into a run. Returns their number. */
static size_t fill_pending(struct mrc_study *study, const struct pending *entries, size_t count,
                           uint64_t before)
{
    struct bank_run *run = &study->run;
    size_t some = 0;
    while (some < count && some < BANK_RUN_MAX && entries[some].window == entries[0].window) {
        const struct pending *entry = &entries[some];
        run->lines[some] = entry->line;
        run->caches[some] = (uint16_t)(entry->series / study->kinds);
        run->numbers[some] = study->settings.kind == BANK_WINDOWS ? entry->window
                             : study->settings.ticks              ? entry->time
                                                                  : entry->time + before;
        study->series_of[some++] = entry->series;
    }
    run->count = some;
    study->window = entries[0].window;
    return some;
}

int mrc_study_resolve(struct mrc_study *study, struct pending_list *list, struct bt_error *error)
{
    const uint64_t before = study->touches;
    int result = 0;
    study->resolving = true;
    for (size_t done = 0; result == 0 && done < list->count;) {
        done += fill_pending(study, list->entries + done, list->count - done, before);
        result = mrc_study_run(study, error);
    }
    free(list->entries);
    *list = study->pending;
    study->pending = (struct pending_list){.entries = NULL, .count = 0, .capacity = 0};
    return result;
}

int mrc_study_pack(const struct mrc_study *study, struct numbers *numbers, struct bt_error *error)
{
    const struct mrc_study_totals *totals = &study->totals;
    if (numbers_put(numbers, totals->requests, error) < 0 ||
        numbers_put(numbers, totals->dropped, error) < 0 ||
        numbers_put(numbers, totals->lost, error) < 0 ||
        numbers_put(numbers, totals->gaps, error) < 0)
        return error->code;
    for (unsigned i = 0; i < MRC_SERIES_MAX; i++) {
        if (!study->series[i])
            continue;
        if (numbers_put(numbers, i, error) < 0 ||
            series_pack(study->series[i], study->buckets, numbers, error) < 0)
            return error->code;
    }
    return 0;
}

int mrc_study_add(struct mrc_study *study, const struct numbers *numbers, struct bt_error *error)
{
    size_t place = 4;
    if (numbers->count < place)
        return bt_fail(error, BT_DATA, "the counts of another process are inconsistent");
    study->totals.requests += numbers->values[0];
    study->totals.dropped += numbers->values[1];
    study->totals.lost = saturating_add(study->totals.lost, numbers->values[2]);
    study->totals.gaps += numbers->values[3];
    while (place < numbers->count) {
        const uint64_t number = numbers->values[place++];
        struct series *series =
            number < MRC_SERIES_MAX ? mrc_study_find_series(study, (unsigned)number, error) : NULL;
        if (!series)
            return number < MRC_SERIES_MAX
                       ? error->code
                       : bt_fail(error, BT_DATA, "the counts of another process are inconsistent");
        if (series_add_packed(series, study->buckets, numbers, &place, error) < 0)
            return error->code;
    }
    return 0;
}

const struct mrc_study_settings *mrc_study_settings(const struct mrc_study *study)
{
    return &study->settings;
}

const struct mrc_study_totals *mrc_study_totals(const struct mrc_study *study)
{
    return &study->totals;
}

const struct series *mrc_study_series(const struct mrc_study *study, unsigned number)
{
    return study->series[number];
}

struct series_name mrc_study_series_name(const struct mrc_study_settings *settings, unsigned number)
{
    const unsigned kinds = kinds_of(settings);
    const unsigned caches = settings->split ? 2 : 1;
    const unsigned cache = number / kinds;
    return (struct series_name){
        .processor = settings->by_processor ? (int)(cache / caches) : -1,
        .cache = !settings->split      ? NULL
                 : cache % caches == 0 ? "instruction"
                                       : "data",
        .kind =
            settings->by_kind ? reference_kind_name((enum reference_kind)(number % kinds)) : NULL};
}

void mrc_study_finish(struct mrc_study *study)
{
    bank_free(study->bank);
    study->bank = NULL;
    shards_free(study->shards);
    study->shards = NULL;
}
