/*
 * Studies of reuse. The first bytes are settings and the place where the trace is cut; the rest is
 * records, and the text of options. The joined counts of both parts equal those of the whole trace.
 */
#include "tools/mrc/curve.h"
#include "tools/mrc/mrc_options.h"
#include "tools/mrc/sample.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 10u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct mrc_study_settings get_settings(const uint8_t *data)
{
    struct mrc_study_settings settings = {.kind = (enum bank_kind)(data[0] % 3),
                                          .line_bytes = 1u << data[1] % 21,
                                          .sets = 1u << data[2] % 8,
                                          .by_processor = data[3] & 1,
                                          .by_kind = data[3] & 2,
                                          .split = data[3] & 4,
                                          .ticks = data[3] & 8,
                                          .window_counts_max = 1u << 20};
    settings.sample = data[3] & 16 ? SAMPLE_ALL / (1u + data[4]) : SAMPLE_ALL;
    settings.window.unit = (enum window_unit)(data[5] % 3);
    settings.window.length = 1 + (uint64_t)bytes_get16(data + 6) * (data[5] & 64 ? 65537 : 1);
    return settings;
}

/* Studies records first to end - 1. NULL if a limit was reached. */
static struct mrc_study *run(const struct mrc_study_settings *settings, struct record *records,
                             size_t first, size_t end)
{
    struct bt_error error;
    struct batch batch = {.records = records + first, .count = end - first};
    struct mrc_study *study = mrc_study_new(settings, first, &error);
    if (!study)
        abort();
    batch.first_tick = first < end ? records_time(records, first + 1) : 0;
    if (mrc_study_put(study, &batch, &error) == 0)
        return study;
    if (error.code != BT_USAGE) /* too many windows: the only possible error */
        abort();
    mrc_study_free(study);
    return NULL;
}

/* Joins both parts into front. False if a limit was reached. */
static bool join(struct mrc_study *front, struct mrc_study *back)
{
    struct pending_list list = {.entries = NULL, .count = 0, .capacity = 0};
    struct numbers numbers = {.values = NULL, .count = 0, .capacity = 0};
    struct bt_error error;
    int result = mrc_study_resolve(back, &list, &error);
    if (result == 0)
        result = mrc_study_resolve(front, &list, &error);
    if (result == 0 && list.count > 0)
        abort();
    if (result == 0)
        result = mrc_study_pack(back, &numbers, &error);
    if (result == 0)
        result = mrc_study_add(front, &numbers, &error);
    free(list.entries);
    free(numbers.values);
    if (result < 0 && error.code != BT_USAGE)
        abort();
    return result == 0;
}

/* Every curve falls monotonically, and ends. */
static void check_curve(const struct mrc_study *study, unsigned number)
{
    struct curve curve;
    struct bt_error error;
    uint64_t last = UINT64_MAX;
    if (curve_init(&curve, study, number, &error) < 0)
        abort();
    for (uint64_t size = 1; size != 0; size = curve_next(&curve, size, 0)) {
        const uint64_t misses = curve_misses(&curve, size);
        const struct curve_interval interval = curve_interval(&curve, size);
        if (misses > last || misses < curve.compulsory)
            abort();
        if (!(interval.low >= 0 && interval.low <= interval.high && interval.high <= 1))
            abort();
        last = misses;
    }
    curve_free(&curve);
}

/* The count of a bucket in a window; 0 if there is no such window. */
static uint64_t count_in(const struct series *series, uint64_t window, unsigned bucket,
                         unsigned buckets)
{
    if (!series || window < series->first_window ||
        window - series->first_window >= series->window_count)
        return 0;
    return series->windows[(window - series->first_window) * (buckets + 1) + bucket];
}

static void compare(const struct series *a, const struct series *b, unsigned buckets)
{
    const uint64_t distances = histogram_end(&a->distances);
    if (a->references != b->references || a->cold != b->cold ||
        distances != histogram_end(&b->distances))
        abort();
    for (uint64_t i = 0; i < distances; i++)
        if (histogram_count(&a->distances, i) != histogram_count(&b->distances, i))
            abort();
    for (uint64_t i = 0; i < a->window_count; i++)
        for (unsigned bucket = 0; bucket <= buckets; bucket++)
            if (count_in(a, a->first_window + i, bucket, buckets) !=
                count_in(b, a->first_window + i, bucket, buckets))
                abort();
}

static void check(const struct mrc_study_settings *settings, struct record *records, size_t count,
                  size_t cut)
{
    struct mrc_study *whole = run(settings, records, 0, count);
    struct mrc_study *front = run(settings, records, 0, cut);
    struct mrc_study *back = cut > 0 ? run(settings, records, cut, count) : NULL;
    const bool joined = whole && front && back && join(front, back);
    for (unsigned i = 0; i < MRC_SERIES_MAX && joined; i++) {
        const struct series *one = mrc_study_series(whole, i);
        const struct series *two = mrc_study_series(front, i);
        if (!one != !two)
            abort();
        if (one)
            compare(one, two, mrc_study_buckets(settings));
        if (one && settings->kind == BANK_DISTANCES && settings->window.unit == WINDOW_NONE)
            check_curve(front, i);
    }
    mrc_study_free(whole);
    mrc_study_free(front);
    mrc_study_free(back);
}

/* Options are either accepted, or refused with a message. */
static void check_options(const uint8_t *data, size_t size)
{
    struct mrc_job job = {.settings = {.sets = 1, .sample = SAMPLE_ALL}};
    struct bt_error error = {0};
    char text[40] = "";
    memcpy(text, data, size < sizeof text - 1 ? size : sizeof text - 1);
    const int results[] = {mrc_options_lines(&job, text, &error),
                           mrc_options_window(&job, text, &error),
                           mrc_options_by(&job.settings, text, &error),
                           mrc_options_sample(&job.settings, text, &error)};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i] != 0 && (results[i] != BT_USAGE || error.message[0] == '\0'))
            abort();
    if (job.settings.sample == 0 || job.settings.sample > SAMPLE_ALL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    check_options(data, size);
    const struct mrc_study_settings settings = get_settings(data);
    const size_t count = (size - HEAD) / RECORD_BYTES;
    struct record *records = malloc((count + 1) * sizeof *records);
    if (!records)
        return 0;
    records_get(records, data + HEAD, count);
    check(&settings, records, count, bytes_get16(data + 8) % (count + 1));
    free(records);
    return 0;
}
