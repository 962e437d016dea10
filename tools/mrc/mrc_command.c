#include "tools/common/commands.h"

#include "formats/base/power.h"
#include "formats/base/quantity.h"
#include "tools/cache/model/replacement.h"
#include "tools/mrc/job.h"
#include "tools/mrc/job_simulation.h"
#include "tools/mrc/mrc_options.h"
#include "tools/mrc/mrc_report.h"
#include "tools/mrc/mrc_report_plot.h"
#include "tools/mrc/sample.h"
#include "tools/mrc/shards.h"

#include <string.h>

struct mrc_settings {
    struct mrc_job job;
    bool csv, json, split;
    bool windows, working_set, reuse_time;
    uint32_t sets, points, threads;
    const char *plot;
    struct figure_options figure;
    struct figure_output picture;
};

static int take_lines(void *settings, const char *argument, struct bt_error *error)
{
    return mrc_options_lines(&((struct mrc_settings *)settings)->job, argument, error);
}

static int take_by(void *settings, const char *argument, struct bt_error *error)
{
    return mrc_options_by(&((struct mrc_settings *)settings)->job.settings, argument, error);
}

static int take_sample(void *settings, const char *argument, struct bt_error *error)
{
    return mrc_options_sample(&((struct mrc_settings *)settings)->job.settings, argument, error);
}

static int take_sample_size(void *settings, const char *argument, struct bt_error *error)
{
    uint64_t lines;
    if (quantity_count(&lines, argument, error) < 0)
        return error->code;
    if (lines == 0 || lines > SHARDS_LINES_MAX)
        return bt_fail(error, BT_USAGE, "can be 1 to %u lines, not %.40s", SHARDS_LINES_MAX,
                       argument);
    ((struct mrc_settings *)settings)->job.settings.sample_lines = (uint32_t)lines;
    return 0;
}

static int take_window(void *settings, const char *argument, struct bt_error *error)
{
    struct mrc_settings *mrc = settings;
    mrc->windows = true;
    return mrc_options_window(&mrc->job, argument, error);
}

static int take_working_set(void *settings, const char *argument, struct bt_error *error)
{
    struct mrc_settings *mrc = settings;
    mrc->working_set = true;
    mrc->job.settings.kind = BANK_WINDOWS;
    return mrc_options_window(&mrc->job, argument, error);
}

static int take_reuse_time(void *settings, const char *argument, struct bt_error *error)
{
    struct mrc_settings *mrc = settings;
    mrc->reuse_time = true;
    mrc->job.settings.kind = BANK_TIMES;
    mrc->job.settings.ticks = strcmp(argument, "ticks") == 0;
    if (!mrc->job.settings.ticks && strcmp(argument, "references") != 0)
        return bt_fail(error, BT_USAGE, "'%.40s' is not references, nor ticks", argument);
    return 0;
}

static int take_replacement(void *settings, const char *argument, struct bt_error *error)
{
    struct mrc_settings *mrc = settings;
    return replacement_find(&mrc->job.settings.replacement, argument, error);
}

static const struct option_row mrc_options[] = {
    {OPTION_CALL, 'l', "line", "LIST",
     "line sizes in bytes: 64 (the default), or several: 32,64,128", 0, take_lines},
    {OPTION_CALL, 0, "by", "LIST , processor kind",
     "processor: separate caches for each; kind: separate counts for each kind of request", 0,
     take_by},
    {OPTION_FLAG, 0, "split", NULL, "separate caches for instructions and data",
     offsetof(struct mrc_settings, split), NULL},
    {OPTION_NUMBER, 0, "sets", "N", "curves over associativity, for caches of N sets",
     offsetof(struct mrc_settings, sets), NULL},
    {OPTION_CALL, 0, "replacement", "POLICY lru fifo random plru nru srrip brrip drrip ship lfu",
     "replacement policy (default: lru); the others are simulated size by size", 0,
     take_replacement},
    {OPTION_CALL, 'w', "window", "W",
     "a curve for each window of time: 10ms, 1M (requests), 1Mticks", 0, take_window},
    {OPTION_CALL, 0, "sample-rate", "RATE", "follow only this share of the lines: 0.01, 1%, 1/100",
     0, take_sample},
    {OPTION_CALL, 0, "sample-size", "N",
     "follow at most N lines, in memory that does not grow: 8192 is enough for most", 0,
     take_sample_size},
    {OPTION_CALL, 0, "working-set", "W",
     "instead of curves, the number of lines that each window references", 0, take_working_set},
    {OPTION_CALL, 0, "reuse-time", "UNIT references ticks",
     "instead of curves, the time until a line is referenced again, in references or ticks", 0,
     take_reuse_time},
    {OPTION_NUMBER, 0, "points", "N",
     "sizes per power of two: 1, 2, 4 or 8 (default in CSV and JSON: all sizes)",
     offsetof(struct mrc_settings, points), NULL},
    OPTION_CSV_ROW(struct mrc_settings, csv),
    OPTION_JSON_ROW(struct mrc_settings, json),
    {OPTION_TEXT, 0, "plot", "FILE", "also draw the curves: .svg, .png or .pdf",
     offsetof(struct mrc_settings, plot), NULL},
    FIGURE_OPTIONS(struct mrc_settings, figure),
    {OPTION_NUMBER, 'j', "threads", "N", "worker threads, each for a part of the trace",
     offsetof(struct mrc_settings, threads), NULL},
    RECORD_INPUT_OPTIONS(struct mrc_settings, job.input),
    MODULE_OPTIONS(struct mrc_settings, job.input.modules),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Checks the combination of options. 0 or BT_USAGE. */
static int check(const struct mrc_settings *mrc, struct bt_error *error)
{
    if (mrc->csv && mrc->json)
        return bt_fail(error, BT_USAGE, "--csv and --json exclude each other");
    if (mrc->working_set && (mrc->windows || mrc->reuse_time))
        return bt_fail(error, BT_USAGE,
                       "--working-set excludes --%s: it uses its own windows, and no times",
                       mrc->windows ? "window" : "reuse-time");
    if (mrc->points > 8 || (mrc->points != 0 && !power_is(mrc->points)))
        return bt_fail(error, BT_USAGE, "--points: 1, 2, 4 or 8");
    if (mrc->threads > JOB_THREADS_MAX)
        return bt_fail(error, BT_USAGE, "--threads: at most %u", JOB_THREADS_MAX);
    return mrc_options_check(&mrc->job, error);
}

static int print(const struct mrc_settings *mrc, struct bt_error *error)
{
    const struct mrc_job *job = &mrc->job;
    const bool all = mrc->points == 0 && (mrc->csv || mrc->json);
    const struct mrc_report report = {.studies = (const struct mrc_study *const *)job->studies,
                                      .count = job->line_count,
                                      .window = job->window,
                                      .clock_hz = job->clock_hz,
                                      .input = &job->input,
                                      .steps = all           ? 0
                                               : mrc->points ? mrc->points
                                                             : 1};
    int result = mrc->csv    ? mrc_report_csv(&report, error)
                 : mrc->json ? mrc_report_json(&report, error)
                             : mrc_report_text(&report, error);
    if (result == 0 && mrc->plot)
        result = mrc_report_plot(&report, &mrc->picture, error);
    return result;
}

/* Checks that the job can be done by the processes that there are. 0 or BT_USAGE. */
static int check_processes(const struct mrc_job *job, struct bt_error *error)
{
    if (cluster_size(job->cluster) == 1)
        return 0;
    if (job->settings.sample_lines > 0)
        return bt_fail(error, BT_USAGE, "a sample of fixed size needs a single process");
    if (job->settings.replacement != CACHE_LRU)
        return bt_fail(error, BT_USAGE, "simulated curves need a single process");
    return 0;
}

/* Runs the job; returns the exit status. */
static int run(struct mrc_settings *mrc)
{
    struct mrc_job *job = &mrc->job;
    struct bt_error error;
    if (cluster_join(&job->cluster, &error) < 0)
        return command_failure(&error);
    int result = check_processes(job, &error);
    if (result == 0)
        result = job_run(job, &error);
    if (result == 0 && job->settings.replacement != CACHE_LRU)
        result = job_simulate(job, &error);
    int status = result < 0 ? command_failure(&error) : job->status;
    if (status < STATUS_USAGE)
        status = cluster_status(job->cluster, status);
    if (result == 0 && cluster_rank(job->cluster) == 0 && print(mrc, &error) < 0)
        status = command_failure(&error);
    cluster_leave(job->cluster, status);
    job_free(job);
    return status;
}

static int mrc_main(struct invocation *call)
{
    struct mrc_settings settings = {.sets = 1,
                                    .job = {.line_bytes = {64},
                                            .line_count = 1,
                                            .input = {.quiet_output = true, .count = UINT64_MAX},
                                            .settings.sample = SAMPLE_ALL}};
    struct mrc_job *job = &settings.job;
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    job->path_count = call->count;
    job->paths = call->arguments;
    job->threads = job->settings.sample_lines > 0 && settings.threads == 0 ? 1 : settings.threads;
    job->settings.sets = settings.sets;
    job->points = settings.points > 0 ? settings.points : 1;
    job->settings.split = settings.split;
    if (check(&settings, &error) < 0)
        return command_usage(call, "%s", error.message);
    settings.figure.filter = settings.job.input.filter;
    if (!settings.plot && figure_options_given(&settings.figure))
        return command_usage(call, "--plot-format, --title, --size and --log are for --plot FILE");
    if (settings.plot && figure_output_prepare(&settings.picture, settings.plot, &settings.figure,
                                               call->count, call->arguments, &error) < 0)
        return error.code == BT_USAGE ? command_usage(call, "--plot: %s", error.message)
                                      : command_failure(&error);
    return run(&settings);
}

const struct command mrc_command = {
    .name = "mrc",
    .operands = "[FILE...]",
    .summary = "compute miss-ratio curves: caches of all sizes",
    .details = "Reads one or more traces and prints the miss ratio of a cache of each size, "
               "LRU unless told otherwise. Without FILE, or if it is -, standard input is read.",
    .options = mrc_options,
    .run = mrc_main,
    .group = NULL,
    .reads_captures = true};
