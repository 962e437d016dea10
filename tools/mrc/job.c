#include "tools/mrc/job.h"

#include "formats/base/extent.h"
#include "formats/base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* minimum number of records for each thread: merging parts costs time */
#define RECORDS_A_THREAD 4000000u

/* The work of one thread. */
struct job_part {
    const struct mrc_job *job;
    uint64_t first, count; /* records */
    struct mrc_study *studies[JOB_LINES_MAX];
    struct mrc_window window;
    uint64_t clock_hz;
    bool started; /* has received a batch, so that the clock is known */
    int status;   /* exit status of reading */
    int result;
    struct bt_error error;
    pthread_t thread;
    bool threaded;
    bool hold_damage; /* a part of a corrupt trace: messages are held back, because the trace is
                         read again as a whole */
};

static bool has_ticks(const struct mrc_job *job)
{
    return job->window_ns > 0 || job->settings.ticks || job->settings.window.unit == WINDOW_TICKS;
}

static int new_studies(struct job_part *part, struct bt_error *error)
{
    struct mrc_study_settings settings = part->job->settings;
    settings.window = part->window;
    for (unsigned i = 0; i < part->job->line_count; i++) {
        settings.line_bytes = part->job->line_bytes[i];
        part->studies[i] = mrc_study_new(&settings, part->first, error);
        if (!part->studies[i])
            return error->code;
    }
    return 0;
}

/* Takes the clock of a batch's capture, which converts the length of windows. */
static int see_clock(struct job_part *part, const struct capture_info *info, struct bt_error *error)
{
    const uint64_t clock_hz = info ? info->clock_hz : 0;
    struct extent wanted = {.unit = EXTENT_TIME, .length = (uint64_t)part->job->window_ns};
    if (part->started && (wanted.length == 0 || clock_hz == part->clock_hz))
        return 0;
    if (part->started)
        return bt_fail(error, BT_USAGE,
                       "the traces have different clocks: give windows in ticks or requests");
    if (wanted.length > 0) {
        if (extent_in_ticks(&wanted, clock_hz, error) < 0)
            return error->code;
        part->window = (struct mrc_window){.unit = WINDOW_TICKS, .length = wanted.length};
    }
    part->clock_hz = clock_hz;
    part->started = true;
    return 0;
}

static int mrc_study_records(struct job_part *part, struct record_input *input,
                             struct bt_error *error)
{
    const struct batch *batch;
    int result;
    while ((result = record_input_next(input, &batch, error)) == 1) {
        const bool first = !part->started;
        if (see_clock(part, record_input_info(input), error) < 0 ||
            (first && new_studies(part, error) < 0))
            return error->code;
        for (unsigned i = 0; i < part->job->line_count; i++)
            if (mrc_study_put(part->studies[i], batch, error) < 0)
                return error->code;
    }
    return result;
}

static int run_part(struct job_part *part, struct bt_error *error)
{
    const struct mrc_job *job = part->job;
    struct record_input_settings settings = job->input;
    struct record_input *input;
    settings.first = part->first;
    settings.count = part->count;
    settings.hold_damage = part->hold_damage;
    settings.trace.undivided = part->count < UINT64_MAX;
    settings.keep_ticks = part->first > 0 && has_ticks(job);
    part->window = job->settings.window;
    int result = record_input_open(&input, job->path_count, job->paths, &settings, error);
    if (result < 0)
        return result;
    result = mrc_study_records(part, input, error);
    part->status = record_input_close(input);
    if (result == 0 && !part->started)
        result = new_studies(part, error);
    return result;
}

static void *part_main(void *argument)
{
    struct job_part *part = argument;
    part->result = run_part(part, &part->error);
    return NULL;
}

/* The first error of all parts, or 0. */
static int run_parts(struct job_part *parts, unsigned count, struct bt_error *error)
{
    for (unsigned i = 1; i < count; i++)
        parts[i].threaded = pthread_create(&parts[i].thread, NULL, part_main, &parts[i]) == 0;
    for (unsigned i = 0; i < count; i++)
        if (!parts[i].threaded)
            part_main(&parts[i]);
    for (unsigned i = 1; i < count; i++)
        if (parts[i].threaded)
            pthread_join(parts[i].thread, NULL);
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].result < 0) {
            *error = parts[i].error;
            return error->code;
        }
    }
    return 0;
}

/* --- putting parts together --- */

/* Checks that the windows of all parts have the same length, which becomes the job's. The clock is
 * that of the first trace, as with a single part. */
static int agree(struct mrc_job *job, const struct job_part *part, struct bt_error *error)
{
    if (!part->started)
        return 0;
    if (job->clock_hz != 0 && job->window_ns > 0 && job->clock_hz != part->clock_hz)
        return bt_fail(error, BT_USAGE,
                       "the traces have different clocks: give windows in ticks or requests");
    if (!job->started) {
        job->window = part->window;
        job->clock_hz = part->clock_hz;
        job->started = true;
    }
    return 0;
}

/*
 * Resolves the pending references between the parts of one line size, from the last part to the
 * first. Receives those of the next process, and sends the unresolved ones to the previous process.
 */
static int resolve(struct mrc_job *job, struct job_part *parts, unsigned count, unsigned line,
                   struct bt_error *error)
{
    const int rank = cluster_rank(job->cluster);
    struct pending_list list = {.entries = NULL, .count = 0, .capacity = 0};
    void *bytes = NULL;
    size_t size = 0;
    if (rank + 1 < cluster_size(job->cluster) &&
        cluster_receive(job->cluster, rank + 1, &bytes, &size, error) < 0)
        return error->code;
    list.entries = bytes;
    list.count = list.capacity = size / sizeof *list.entries;
    int result = 0;
    for (unsigned i = count; i-- > 0 && result == 0;) {
        result = mrc_study_resolve(parts[i].studies[line], &list, error);
        mrc_study_finish(parts[i].studies[line]);
    }
    if (result == 0 && rank > 0)
        result = cluster_send(job->cluster, rank - 1, list.entries,
                              list.count * sizeof *list.entries, error);
    free(list.entries);
    return result;
}

/* Adds the counts of this process's other parts to those of its first part. */
static int add_parts(struct job_part *parts, unsigned count, unsigned line, struct bt_error *error)
{
    struct numbers numbers = {.values = NULL, .count = 0, .capacity = 0};
    int result = 0;
    for (unsigned i = 1; i < count && result == 0; i++) {
        numbers.count = 0;
        result = mrc_study_pack(parts[i].studies[line], &numbers, error);
        if (result == 0)
            result = mrc_study_add(parts[0].studies[line], &numbers, error);
    }
    free(numbers.values);
    return result;
}

/* Sums the counts of all processes in process 0; the clock is sent first. */
static int gather(struct mrc_job *job, struct mrc_study *study, struct bt_error *error)
{
    const int rank = cluster_rank(job->cluster);
    struct numbers numbers = {.values = NULL, .count = 0, .capacity = 0};
    int result = 0;
    if (rank > 0) {
        result = mrc_study_pack(study, &numbers, error);
        if (result == 0)
            result = cluster_send(job->cluster, 0, numbers.values,
                                  numbers.count * sizeof *numbers.values, error);
        free(numbers.values);
        return result;
    }
    for (int from = 1; from < cluster_size(job->cluster) && result == 0; from++) {
        void *bytes = NULL;
        size_t size = 0;
        result = cluster_receive(job->cluster, from, &bytes, &size, error);
        numbers = (struct numbers){.values = bytes, .count = size / sizeof *numbers.values};
        if (result == 0)
            result = mrc_study_add(study, &numbers, error);
        free(bytes);
    }
    return result;
}

/* Process 0 receives the clocks of the others. */
static int gather_clocks(struct mrc_job *job, struct bt_error *error)
{
    uint64_t mine[4] = {job->clock_hz, job->window.unit, job->window.length, job->started};
    if (cluster_rank(job->cluster) > 0)
        return cluster_send(job->cluster, 0, mine, sizeof mine, error);
    for (int from = 1; from < cluster_size(job->cluster); from++) {
        void *bytes = NULL;
        size_t size = 0;
        uint64_t theirs[4] = {0, 0, 0, 0};
        if (cluster_receive(job->cluster, from, &bytes, &size, error) < 0)
            return error->code;
        memcpy(theirs, bytes, size < sizeof theirs ? size : sizeof theirs);
        free(bytes);
        const struct job_part part = {
            .clock_hz = theirs[0],
            .window = {.unit = (enum window_unit)theirs[1], .length = theirs[2]},
            .started = theirs[3] != 0};
        if (agree(job, &part, error) < 0)
            return error->code;
    }
    return 0;
}

static int put_together(struct mrc_job *job, struct job_part *parts, unsigned count,
                        struct bt_error *error)
{
    job->window = job->settings.window;
    for (unsigned i = 0; i < count; i++)
        if (agree(job, &parts[i], error) < 0)
            return error->code;
    for (unsigned line = 0; line < job->line_count; line++)
        if (resolve(job, parts, count, line, error) < 0 ||
            add_parts(parts, count, line, error) < 0 ||
            gather(job, parts[0].studies[line], error) < 0)
            return error->code;
    return gather_clocks(job, error);
}

/* --- division of the work --- */

/* Whether the traces are seekable files whose records can be counted. */
static bool are_files(const struct mrc_job *job)
{
    struct stat status;
    for (int i = 0; i < job->path_count; i++)
        if (strcmp(job->paths[i], "-") == 0 || stat(job->paths[i], &status) < 0 ||
            !S_ISREG(status.st_mode))
            return false;
    return job->path_count > 0;
}

/* 0, or the error of the first trace that cannot be opened. */
static int are_there(const struct mrc_job *job, struct bt_error *error)
{
    struct stat status;
    for (int i = 0; i < job->path_count; i++)
        if (strcmp(job->paths[i], "-") != 0 && stat(job->paths[i], &status) < 0)
            return bt_fail_errno(error, "cannot open %s", job->paths[i]);
    return 0;
}

/* Whether several threads are requested or worthwhile. They are not if each would have to read
 * everything before its part. */
static bool may_divide(const struct mrc_job *job)
{
    return job->threads > 1 || (job->threads == 0 && !has_ticks(job) && !job->input.trace.from);
}

/* Number of threads that share this process's records. */
static unsigned choose_threads(const struct mrc_job *job, uint64_t records)
{
    if (job->threads > 0)
        return job->threads < JOB_THREADS_MAX ? job->threads : JOB_THREADS_MAX;
    const uint64_t most = may_divide(job) ? thread_processors() : 1;
    uint64_t paying = records / RECORDS_A_THREAD;
    paying = paying < most ? paying : most;
    return paying < 1 ? 1 : paying < JOB_THREADS_MAX ? (unsigned)paying : JOB_THREADS_MAX;
}

/*
 * Divides the records among the parts. Standard input cannot be divided: one part reads everything.
 */
static int divide(struct mrc_job *job, struct job_part *parts, unsigned *count,
                  struct bt_error *error)
{
    const int rank = cluster_rank(job->cluster);
    const int size = cluster_size(job->cluster);
    uint64_t records = 0;
    *count = 1;
    parts[0] = (struct job_part){.job = job, .count = UINT64_MAX};
    if (size > 1 && are_there(job, error) < 0)
        return error->code;
    if (!are_files(job) && size > 1)
        return bt_fail(error, BT_USAGE, "several processes read files only, no pipe or folder");
    if (job->input.time.given && size > 1)
        return bt_fail(error, BT_USAGE,
                       "several processes divide a trace by its records: --time needs one process");
    if (!are_files(job) || job->input.time.given || (size == 1 && !may_divide(job)))
        return 0;
    if (record_input_count(job->path_count, job->paths, &job->input, &records, error) < 0)
        return error->code;
    const uint64_t first = cluster_share(records, rank, size);
    const uint64_t end = cluster_share(records, rank + 1, size);
    *count = choose_threads(job, end - first);
    for (unsigned i = 0; i < *count; i++) {
        parts[i] = (struct job_part){.job = job, .hold_damage = *count > 1 || size > 1};
        parts[i].first = first + cluster_share(end - first, (int)i, (int)*count);
        parts[i].count =
            first + cluster_share(end - first, (int)i + 1, (int)*count) - parts[i].first;
    }
    if (rank + 1 == size)
        parts[*count - 1].count = UINT64_MAX - parts[*count - 1].first;
    return 0;
}

static void free_studies(const struct mrc_job *job, struct job_part *part)
{
    for (unsigned line = 0; line < job->line_count; line++) {
        mrc_study_free(part->studies[line]);
        part->studies[line] = NULL;
    }
}

/* Parts begin at record numbers that capture files state, which are wrong for corrupt files. In
 * that case one part of process 0 reads everything again. */
static int run_undivided(struct mrc_job *job, struct job_part *parts, unsigned *count,
                         struct bt_error *error)
{
    const int size = cluster_size(job->cluster);
    int damaged = 0;
    for (unsigned i = 0; i < *count; i++)
        damaged |= parts[i].status > 0;
    if (size > 1)
        damaged = cluster_status(job->cluster, damaged);
    if (!damaged || (*count == 1 && size == 1))
        return 0;
    for (unsigned i = 0; i < *count; i++)
        free_studies(job, &parts[i]);
    *count = 1;
    parts[0] =
        (struct job_part){.job = job, .count = cluster_rank(job->cluster) == 0 ? UINT64_MAX : 0};
    return run_parts(parts, 1, error);
}

int job_run(struct mrc_job *job, struct bt_error *error)
{
    unsigned count = 0;
    struct job_part *parts = calloc(JOB_THREADS_MAX, sizeof *parts);
    if (!parts)
        return bt_fail(error, BT_MEMORY, "no memory for threads");
    int result = divide(job, parts, &count, error);
    if (result == 0)
        result = run_parts(parts, count, error);
    if (result == 0)
        result = run_undivided(job, parts, &count, error);
    if (result == 0)
        result = put_together(job, parts, count, error);
    for (unsigned i = 0; i < count; i++) {
        job->status = job->status > parts[i].status ? job->status : parts[i].status;
        if (i > 0)
            free_studies(job, &parts[i]);
    }
    memcpy(job->studies, parts[0].studies, sizeof parts[0].studies);
    free(parts);
    return result;
}

void job_free(struct mrc_job *job)
{
    for (unsigned line = 0; line < job->line_count; line++)
        mrc_study_free(job->studies[line]);
}
