/* CSV: one line for each point, with the curve that it belongs to. */
#include "tools/mrc/buckets.h"
#include "tools/mrc/curve.h"
#include "tools/mrc/mrc_report.h"
#include "tools/mrc/sample.h"

#include <inttypes.h>

/* The leading columns, common to all tables. */
static void put_name(const struct mrc_report *report, unsigned study, unsigned number,
                     uint64_t window)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series_name name = mrc_study_series_name(settings, number);
    printf("%" PRIu32 ",", settings->line_bytes);
    if (name.processor >= 0)
        printf("%d", name.processor);
    printf(",%s,%s,", name.cache ? name.cache : "", name.kind ? name.kind : "");
    if (report->window.unit != WINDOW_NONE)
        printf("%" PRIu64, window * report->window.length);
    putchar(',');
}

static void put_curve(const struct mrc_report *report, unsigned study, unsigned number,
                      uint64_t window, const struct curve *curve)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    for (uint64_t ways = curve_next(curve, 0, report->steps); ways != 0;
         ways = curve_next(curve, ways, report->steps)) {
        const uint64_t misses = curve_misses(curve, ways);
        put_name(report, study, number, window);
        printf("%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9g",
               settings->sets, ways, ways * settings->sets * settings->line_bytes,
               curve->references, curve->compulsory, misses, curve_ratio(curve, misses));
        const struct curve_interval interval = curve_interval(curve, ways);
        if (settings->sample < SAMPLE_ALL)
            printf(",%.6g,%.6g", interval.low, interval.high);
        putchar('\n');
    }
}

static int put_curves(const struct mrc_report *report, unsigned study, unsigned number,
                      struct bt_error *error)
{
    const struct series *series = mrc_study_series(report->studies[study], number);
    struct curve curve;
    if (report->window.unit == WINDOW_NONE) {
        if (curve_init(&curve, report->studies[study], number, error) < 0)
            return error->code;
        put_curve(report, study, number, 0, &curve);
        curve_free(&curve);
    }
    for (size_t i = 0; i < series->window_count && report->window.unit != WINDOW_NONE; i++) {
        if (curve_init_window(&curve, series->windows + i * (BUCKETS_DISTANCE + 1), error) < 0)
            return error->code;
        if (curve.references > 0)
            put_curve(report, study, number, series->first_window + i, &curve);
        curve_free(&curve);
    }
    return 0;
}

static void put_working_sets(const struct mrc_report *report, unsigned study, unsigned number)
{
    const struct series *series = mrc_study_series(report->studies[study], number);
    const unsigned columns = mrc_study_buckets(mrc_report_settings(report, study)) + 1;
    for (size_t i = 0; i < series->window_count; i++) {
        const uint64_t *counts = series->windows + i * columns;
        const uint64_t lines = counts[BANK_FIRST];
        if (counts[BANK_AGAIN] + lines == 0)
            continue;
        put_name(report, study, number, series->first_window + i);
        printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", counts[BANK_AGAIN] + lines, lines,
               lines * mrc_report_settings(report, study)->line_bytes);
    }
}

static void put_times(const struct mrc_report *report, unsigned study, unsigned number)
{
    const struct series *series = mrc_study_series(report->studies[study], number);
    for (size_t i = 0; i < series->window_count; i++) {
        const uint64_t *counts = series->windows + i * (BUCKETS_TIME + 1);
        for (uint32_t bucket = 0; bucket <= BUCKETS_TIME; bucket++) {
            if (counts[bucket] == 0)
                continue;
            put_name(report, study, number, series->first_window + i);
            if (bucket < BUCKETS_TIME)
                printf("%" PRIu64 ",%" PRIu64, buckets_first(bucket),
                       bucket + 1 < BUCKETS_TIME ? buckets_first(bucket + 1) - 1 : UINT64_MAX);
            else
                putchar(',');
            printf(",%" PRIu64 "\n", counts[bucket]);
        }
    }
}

static int put_series(void *argument, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    (void)argument;
    switch (mrc_report_settings(report, study)->kind) {
    case BANK_WINDOWS:
        put_working_sets(report, study, number);
        return 0;
    case BANK_TIMES:
        put_times(report, study, number);
        return 0;
    default:
        return put_curves(report, study, number, error);
    }
}

int mrc_report_csv(const struct mrc_report *report, struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, 0);
    fputs("line_bytes,processor,cache,kind,window,", stdout);
    if (settings->kind == BANK_WINDOWS)
        puts("references,lines,bytes");
    else if (settings->kind == BANK_TIMES)
        puts("from,to,references");
    else
        printf("sets,ways,bytes,references,compulsory,misses,miss_ratio%s\n",
               settings->sample < SAMPLE_ALL ? ",low,high" : "");
    return mrc_report_each(report, put_series, NULL, error);
}
