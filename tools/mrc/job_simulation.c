#include "tools/mrc/job_simulation.h"

#include "formats/base/thread.h"
#include "tools/cache/study/team.h"

#include <stdlib.h>

/* Each thread simulates every count-th size of each line size. */
struct simulation {
    struct mrc_job *job;
    unsigned threads;
    struct simulated_sizes sizes[JOB_LINES_MAX];
    struct mrc_study **parts; /* [line size * threads + thread] */
};

static int work(void *context, unsigned member, const struct record *records, size_t count,
                struct bt_error *error)
{
    const struct simulation *simulation = context;
    const struct batch batch = {.records = (struct record *)(uintptr_t)records, .count = count};
    for (unsigned line = 0; line < simulation->job->line_count; line++)
        if (mrc_study_put(simulation->parts[line * simulation->threads + member], &batch, error) <
            0)
            return error->code;
    return 0;
}

/* The sizes that a thread simulates. */
static void every_nth_size(const struct simulated_sizes *all, unsigned first, unsigned step,
                           struct simulated_sizes *some)
{
    some->count = 0;
    for (unsigned i = first; i < all->count; i += step) {
        some->ways[some->count] = all->ways[i];
        some->followed[some->count++] = all->followed[i];
    }
}

static int make_parts(struct simulation *simulation, struct bt_error *error)
{
    const struct mrc_job *job = simulation->job;
    const unsigned threads = simulation->threads;
    simulation->parts = calloc((size_t)job->line_count * threads, sizeof(struct mrc_study *));
    if (!simulation->parts)
        return bt_fail(error, BT_MEMORY, "no memory for simulated caches");
    for (unsigned line = 0; line < job->line_count; line++) {
        mrc_study_choose_sizes(job->studies[line], job->points, &simulation->sizes[line]);
        for (unsigned i = 0; i < threads; i++) {
            struct simulated_sizes some;
            struct mrc_study_settings settings = *mrc_study_settings(job->studies[line]);
            every_nth_size(&simulation->sizes[line], i, threads, &some);
            settings.kind = BANK_SIMULATED;
            settings.sizes = &some;
            struct mrc_study *part = mrc_study_new(&settings, 0, error);
            if (!part)
                return error->code;
            simulation->parts[line * threads + i] = part;
        }
    }
    return 0;
}

static int read_again(struct simulation *simulation, struct bt_error *error)
{
    const struct mrc_job *job = simulation->job;
    struct record_input_settings settings = job->input;
    struct record_input *input;
    struct team *team;
    const struct batch *batch;
    settings.again = true;
    int result = team_new(&team, simulation->threads, work, simulation, error);
    if (result < 0)
        return result;
    result = record_input_open(&input, job->path_count, job->paths, &settings, error);
    if (result == 0) {
        while ((result = record_input_next(input, &batch, error)) == 1)
            if ((result = team_put(team, batch->records, batch->count, error)) < 0)
                break;
        record_input_close(input);
    }
    team_free(team);
    return result;
}

int job_simulate(struct mrc_job *job, struct bt_error *error)
{
    struct simulation simulation = {.job = job,
                                    .threads = job->threads ? job->threads : thread_processors()};
    if (simulation.threads > TEAM_MEMBERS_MAX)
        simulation.threads = TEAM_MEMBERS_MAX;
    int result = make_parts(&simulation, error);
    if (result == 0)
        result = read_again(&simulation, error);
    const struct mrc_study *const *parts = (const struct mrc_study *const *)simulation.parts;
    for (unsigned line = 0; line < job->line_count && result == 0; line++)
        result =
            mrc_study_take_simulated(job->studies[line], &simulation.sizes[line],
                                     parts + line * simulation.threads, simulation.threads, error);
    for (unsigned i = 0; simulation.parts && i < job->line_count * simulation.threads; i++)
        mrc_study_free(simulation.parts[i]);
    free(simulation.parts);
    return result;
}
