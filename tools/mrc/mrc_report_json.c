/* JSON: one object for each curve. */
#include "tools/cache/model/replacement.h"
#include "tools/common/json_report.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/curve.h"
#include "tools/mrc/mrc_report.h"
#include "tools/mrc/sample.h"

static void put_points(struct json_put *json, const struct mrc_report *report, unsigned study,
                       const struct curve *curve)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    json_count(json, "references", curve->references);
    json_count(json, "compulsory", curve->compulsory);
    json_array(json, "points");
    for (uint64_t ways = curve_next(curve, 0, report->steps); ways != 0;
         ways = curve_next(curve, ways, report->steps)) {
        const uint64_t misses = curve_misses(curve, ways);
        json_put_object(json);
        json_count(json, settings->sets > 1 ? "ways" : "lines", ways);
        json_count(json, "bytes", ways * settings->sets * settings->line_bytes);
        json_count(json, "misses", misses);
        json_real(json, "miss_ratio", curve_ratio(curve, misses));
        if (settings->sample < SAMPLE_ALL) {
            const struct curve_interval interval = curve_interval(curve, ways);
            json_real(json, "low", interval.low);
            json_real(json, "high", interval.high);
        }
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static int put_curve_windows(struct json_put *json, const struct mrc_report *report, unsigned study,
                             const struct series *series, struct bt_error *error)
{
    json_array(json, "windows");
    for (size_t i = 0; i < series->window_count; i++) {
        struct curve curve;
        if (curve_init_window(&curve, series->windows + i * (BUCKETS_DISTANCE + 1), error) < 0)
            return error->code;
        if (curve.references > 0) {
            json_put_object(json);
            json_count(json, "from", (series->first_window + i) * report->window.length);
            put_points(json, report, study, &curve);
            json_put_object_end(json);
        }
        curve_free(&curve);
    }
    json_put_array_end(json);
    return 0;
}

static void put_working_sets(struct json_put *json, const struct mrc_report *report, unsigned study,
                             const struct series *series)
{
    const unsigned columns = mrc_study_buckets(mrc_report_settings(report, study)) + 1;
    json_array(json, "windows");
    for (size_t i = 0; i < series->window_count; i++) {
        const uint64_t *counts = series->windows + i * columns;
        if (counts[BANK_AGAIN] + counts[BANK_FIRST] == 0)
            continue;
        json_put_object(json);
        json_count(json, "from", (series->first_window + i) * report->window.length);
        json_count(json, "references", counts[BANK_AGAIN] + counts[BANK_FIRST]);
        json_count(json, "lines", counts[BANK_FIRST]);
        json_count(json, "bytes",
                   counts[BANK_FIRST] * mrc_report_settings(report, study)->line_bytes);
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static void put_times(struct json_put *json, const uint64_t *counts)
{
    json_count(json, "first_references", counts[BUCKETS_TIME]);
    json_array(json, "times");
    for (uint32_t bucket = 0; bucket < BUCKETS_TIME; bucket++) {
        if (counts[bucket] == 0)
            continue;
        json_put_object(json);
        json_count(json, "from", buckets_first(bucket));
        json_count(json, "to",
                   bucket + 1 < BUCKETS_TIME ? buckets_first(bucket + 1) - 1 : UINT64_MAX);
        json_count(json, "references", counts[bucket]);
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static void put_time_windows(struct json_put *json, const struct mrc_report *report,
                             const struct series *series)
{
    if (report->window.unit == WINDOW_NONE) {
        if (series->window_count > 0)
            put_times(json, series->windows);
        return;
    }
    json_array(json, "windows");
    for (size_t i = 0; i < series->window_count; i++) {
        const uint64_t *counts = series->windows + i * (BUCKETS_TIME + 1);
        uint64_t references = 0;
        for (uint32_t bucket = 0; bucket <= BUCKETS_TIME; bucket++)
            references += counts[bucket];
        if (references == 0)
            continue;
        json_put_object(json);
        json_count(json, "from", (series->first_window + i) * report->window.length);
        put_times(json, counts);
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static int put_counts(struct json_put *json, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    const struct series *series = mrc_study_series(report->studies[study], number);
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    struct curve curve;
    if (settings->kind == BANK_WINDOWS) {
        put_working_sets(json, report, study, series);
    } else if (settings->kind == BANK_TIMES) {
        put_time_windows(json, report, series);
    } else if (report->window.unit != WINDOW_NONE) {
        return put_curve_windows(json, report, study, series, error);
    } else {
        if (curve_init(&curve, report->studies[study], number, error) < 0)
            return error->code;
        put_points(json, report, study, &curve);
        curve_free(&curve);
    }
    return 0;
}

static int put_series(void *argument, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series_name name = mrc_study_series_name(settings, number);
    struct json_put *json = argument;
    json_put_object(json);
    json_count(json, "line_bytes", settings->line_bytes);
    if (settings->sets > 1)
        json_count(json, "sets", settings->sets);
    if (name.processor >= 0)
        json_count(json, "processor", (uint64_t)name.processor);
    if (name.cache)
        json_text(json, "cache", name.cache);
    if (name.kind)
        json_text(json, "kind", name.kind);
    int result = put_counts(json, report, study, number, error);
    json_put_object_end(json);
    return result;
}

static void put_head(struct json_put *json, const struct mrc_report *report)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, 0);
    const struct mrc_study_totals *totals = mrc_study_totals(report->studies[0]);
    record_input_json(json, report->input);
    json_count(json, "requests", totals->requests);
    json_count(json, "dropped", totals->dropped);
    json_count(json, "lost", totals->lost);
    json_count(json, "chosen_gaps", totals->gaps);
    if (report->window.unit != WINDOW_NONE) {
        json_text(json, "window_unit", report->window.unit == WINDOW_TICKS ? "ticks" : "requests");
        json_count(json, "window_length", report->window.length);
    }
    if (report->clock_hz > 0)
        json_count(json, "clock_hz", report->clock_hz);
    if (settings->sample < SAMPLE_ALL)
        json_real(json, "sample", (double)settings->sample / (double)SAMPLE_ALL);
    if (settings->kind == BANK_DISTANCES)
        json_text(json, "replacement", replacement_names[settings->replacement]);
    if (settings->kind == BANK_TIMES)
        json_text(json, "time_unit", settings->ticks ? "ticks" : "references");
}

int mrc_report_json(const struct mrc_report *report, struct bt_error *error)
{
    static const char *const keys[] = {
        [BANK_DISTANCES] = "curves", [BANK_TIMES] = "reuse_times", [BANK_WINDOWS] = "working_sets"};
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for JSON");
    put_head(json, report);
    json_array(json, keys[mrc_report_settings(report, 0)->kind]);
    int result = mrc_report_each(report, put_series, json, error);
    json_put_array_end(json);
    json_report_end(json);
    return result;
}
