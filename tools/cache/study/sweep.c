#include "tools/cache/study/sweep.h"

#include "formats/base/power.h"
#include "tools/cache/model/lru_stacks.h"
#include "tools/cache/study/team.h"

#include <stdlib.h>
#include <string.h>

/* Work for one thread: all caches of one line size together, or one hierarchy. */
struct sweep_job {
    struct lru_stacks *stacks;
    struct hierarchy *hierarchy;
    unsigned first, count; /* points that it computes */
    unsigned thread;
};

struct sweep {
    struct sink sink;
    struct hierarchy_settings settings;
    unsigned level;
    struct sweep_point *points;
    unsigned point_count;
    struct sweep_job *jobs;
    unsigned job_count;
    unsigned dealt; /* number of jobs, over all processes */
    unsigned fastest;
    struct team *team;
    unsigned threads;            /* of this process */
    unsigned process, processes; /* threads are numbered across processes */
    struct phases phases;
    uint64_t records, lost;
    unsigned left_out;
    struct bt_error why;
};

static unsigned side_count(const struct sweep *sweep)
{
    return sweep->settings.levels[sweep->level].split ? CACHE_SIDES : 1;
}

/* --- points --- */

void sweep_point_settings(struct hierarchy_settings *settings, unsigned level,
                          const struct sweep_point *point)
{
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        struct cache_settings *cache = &settings->levels[level].sides[side];
        cache->size = point->size;
        cache->line = point->line;
        cache->ways = point->ways;
    }
}

static struct hierarchy_settings settings_of(const struct sweep *sweep,
                                             const struct sweep_point *point)
{
    struct hierarchy_settings settings = sweep->settings;
    sweep_point_settings(&settings, sweep->level, point);
    return settings;
}

/* Keeps settings that are not swept. */
static void complete(struct sweep_axes *axes, const struct hierarchy_settings *settings)
{
    const struct cache_settings *cache = &settings->levels[axes->level].sides[0];
    if (axes->size_count == 0)
        axes->sizes[axes->size_count++] = cache->size;
    if (axes->line_count == 0)
        axes->lines[axes->line_count++] = cache->line;
    if (axes->ways_count == 0)
        axes->ways[axes->ways_count++] = cache->ways;
}

static int compare_points(const void *a, const void *b)
{
    const struct sweep_point *one = a;
    const struct sweep_point *other = b;
    if (one->line != other->line)
        return one->line < other->line ? -1 : 1;
    if (one->ways != other->ways) /* full, which is 0, sorts last */
        return one->ways - 1 < other->ways - 1 ? -1 : 1;
    return (one->size > other->size) - (one->size < other->size);
}

static bool same_point(const struct sweep_point *a, const struct sweep_point *b)
{
    return a->line == b->line && a->ways == b->ways && a->size == b->size;
}

static void remove_doubles(struct sweep *sweep)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < sweep->point_count; i++)
        if (kept == 0 || !same_point(&sweep->points[kept - 1], &sweep->points[i]))
            sweep->points[kept++] = sweep->points[i];
    sweep->point_count = kept;
}

static int make_points(struct sweep *sweep, const struct sweep_axes *given, struct bt_error *error)
{
    struct sweep_axes axes = *given;
    complete(&axes, &sweep->settings);
    size_t all = (size_t)axes.size_count * axes.line_count * axes.ways_count;
    if (all > SWEEP_POINTS_MAX)
        return bt_fail(error, BT_USAGE, "a sweep can have %u caches at most, not %zu",
                       SWEEP_POINTS_MAX, all);
    sweep->points = calloc(all, sizeof *sweep->points);
    if (!sweep->points)
        return bt_fail(error, BT_MEMORY, "no memory for a sweep over %zu caches", all);
    for (size_t i = 0; i < all; i++) {
        struct sweep_point *point = &sweep->points[sweep->point_count];
        point->size = axes.sizes[i % axes.size_count];
        point->ways = axes.ways[i / axes.size_count % axes.ways_count];
        point->line = axes.lines[i / axes.size_count / axes.ways_count];
        struct hierarchy_settings settings = settings_of(sweep, point);
        if (hierarchy_check(&settings, &sweep->why) == 0)
            sweep->point_count++;
        else
            sweep->left_out++;
    }
    if (sweep->point_count == 0) {
        if (error)
            *error = sweep->why;
        return bt_fail_within(error, "none of the caches of the sweep is possible");
    }
    qsort(sweep->points, sweep->point_count, sizeof *sweep->points, compare_points);
    remove_doubles(sweep);
    return 0;
}

/* --- jobs --- */

/* Whether lru_stacks can count for hierarchies of these settings. */
static bool is_plain(const struct hierarchy_settings *settings)
{
    const struct cache_level *level = &settings->levels[0];
    if (settings->level_count != 1 || settings->coherence != CACHE_INCOHERENT ||
        settings->honour_attributes || settings->classify || settings->optimum)
        return false;
    for (unsigned side = 0; side < (level->split ? CACHE_SIDES : 1u); side++) {
        const struct cache_settings *cache = &level->sides[side];
        if (cache->replacement != CACHE_LRU || cache->no_write_allocate ||
            cache->prefetch != CACHE_NO_PREFETCH || cache->victim_lines > 0 ||
            cache->prefetcher != CACHE_NO_PREFETCHER || cache->hash != CACHE_HASH_NONE ||
            (cache->sub_block != 0 && cache->sub_block != cache->line))
            return false;
    }
    return true;
}

static uint32_t ways_of(const struct sweep_point *point)
{
    return point->ways ? point->ways : (uint32_t)(point->size / point->line);
}

static uint32_t sets_of(const struct sweep_point *point)
{
    return (uint32_t)(point->size / point->line / ways_of(point));
}

/* The next job, or NULL if another process has it. Every process counts all jobs. */
static struct sweep_job *add_job(struct sweep *sweep, unsigned first, unsigned count)
{
    unsigned thread = sweep->dealt++ % (sweep->threads * sweep->processes);
    if (thread / sweep->threads != sweep->process)
        return NULL;
    struct sweep_job *job = &sweep->jobs[sweep->job_count++];
    *job = (struct sweep_job){.first = first, .count = count, .thread = thread % sweep->threads};
    return job;
}

static int compare_depths(const void *a, const void *b)
{
    const struct lru_depth *one = a;
    const struct lru_depth *other = b;
    if (one->sets != other->sets)
        return one->sets < other->sets ? -1 : 1;
    return (one->ways < other->ways) - (one->ways > other->ways);
}

/* The numbers of sets of points, each once with its largest associativity. */
static unsigned make_depths(const struct sweep *sweep, unsigned first, unsigned count,
                            struct lru_depth *depths)
{
    unsigned made = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct sweep_point *point = &sweep->points[first + i];
        depths[i] = (struct lru_depth){.sets = sets_of(point), .ways = ways_of(point)};
    }
    qsort(depths, count, sizeof *depths, compare_depths);
    for (unsigned i = 0; i < count; i++)
        if (made == 0 || depths[made - 1].sets != depths[i].sets)
            depths[made++] = depths[i];
    return made;
}

/* Makes the jobs for points of one line size: a part of the sets for each thread, if possible. */
static int add_together(struct sweep *sweep, unsigned first, unsigned count, struct bt_error *error)
{
    struct lru_depth depths[SWEEP_VALUES_MAX * SWEEP_VALUES_MAX];
    const struct cache_level *level = &sweep->settings.levels[0];
    struct lru_stacks_settings settings = {.line = sweep->points[first].line,
                                           .split = level->split,
                                           .shared = level->shared,
                                           .depths = depths,
                                           .fastest = (enum lru_form)sweep->fastest,
                                           .parts = 1};
    settings.depth_count = make_depths(sweep, first, count, depths);
    if (lru_stacks_parts_max(&settings) >= sweep->threads * sweep->processes)
        settings.parts = sweep->threads * sweep->processes;
    int result = 0;
    for (; settings.part < settings.parts && result == 0; settings.part++) {
        struct sweep_job *job = add_job(sweep, first, count);
        result = job ? lru_stacks_new(&job->stacks, &settings, error) : 0;
    }
    return result;
}

/* Whether lru_stacks has the sets of a point. */
static bool is_stacked(const struct sweep_point *point)
{
    return ways_of(point) <= LRU_STACKS_DEPTH && power_is(sets_of(point));
}

static int add_alone(struct sweep *sweep, unsigned number, struct bt_error *error)
{
    struct hierarchy_settings settings = settings_of(sweep, &sweep->points[number]);
    struct sweep_job *job = add_job(sweep, number, 1);
    return job ? hierarchy_new(&job->hierarchy, &settings, error) : 0;
}

static int make_jobs(struct sweep *sweep, bool together, struct bt_error *error)
{
    bool plain = together && is_plain(&sweep->settings);
    /* neighbouring points of one line size may be simulated together, in parts */
    sweep->jobs = calloc((size_t)sweep->point_count * sweep->threads, sizeof *sweep->jobs);
    if (!sweep->jobs)
        return bt_fail(error, BT_MEMORY, "no memory for a sweep");
    int result = 0;
    for (unsigned i = 0; i < sweep->point_count && result == 0;) {
        unsigned next = i;
        while (plain && next < sweep->point_count &&
               sweep->points[next].line == sweep->points[i].line &&
               is_stacked(&sweep->points[next]))
            next++;
        if (next > i) {
            result = add_together(sweep, i, next - i, error);
            i = next;
        } else {
            result = add_alone(sweep, i++, error);
        }
    }
    return result;
}

/* --- at work --- */

static int work(void *context, unsigned member, const struct record *records, size_t count,
                struct bt_error *error)
{
    struct sweep *sweep = context;
    int result = 0;
    for (unsigned i = 0; i < sweep->job_count && result == 0; i++) {
        struct sweep_job *job = &sweep->jobs[i];
        if (job->thread != member)
            continue;
        result = job->stacks ? lru_stacks_put(job->stacks, records, count, error)
                             : hierarchy_put(job->hierarchy, records, count, error);
    }
    return result;
}

/* Adds what a job's stacks have counted to the points, or takes it off. */
static void add_stacks(struct sweep *sweep, const struct sweep_job *job, bool flush, bool take_off)
{
    for (unsigned i = job->first; i < job->first + job->count; i++)
        for (unsigned side = 0; side < side_count(sweep); side++) {
            struct sweep_point *point = &sweep->points[i];
            struct cache_counters counters;
            lru_stacks_counters(job->stacks, sets_of(point), ways_of(point), (enum cache_side)side,
                                sweep->settings.levels[0].sides[side].write_through, flush,
                                &counters);
            if (take_off)
                cache_counters_subtract(&point->sides[side], &counters);
            else
                cache_counters_add(&point->sides[side], &counters);
        }
}

/* The counters restart at zero. Those of stacks go on: they are taken off the points, which the end
 * adds them to. */
static int end_warm_up(void *context, struct bt_error *error)
{
    struct sweep *sweep = context;
    (void)error;
    for (unsigned i = 0; i < sweep->job_count; i++) {
        if (sweep->jobs[i].stacks)
            add_stacks(sweep, &sweep->jobs[i], false, true);
        else
            hierarchy_reset_counters(sweep->jobs[i].hierarchy);
    }
    sweep->records = 0;
    return 0;
}

static int put_phase(void *context, const struct record *records, size_t count,
                     struct bt_error *error)
{
    struct sweep *sweep = context;
    sweep->records += count;
    return team_put(sweep->team, records, count, error);
}

static int put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    static const struct phase_operations phases = {put_phase, end_warm_up};
    struct sweep *sweep = (struct sweep *)sink;
    sweep->lost += loss_total(&batch->lost);
    return phases_divide(&sweep->phases, batch, &phases, sweep, error);
}

static const struct sink_operations operations = {put, sink_close_nothing};

int sweep_new(struct sweep **sweep, const struct sweep_settings *settings, struct bt_error *error)
{
    *sweep = NULL;
    if (settings->axes->level >= settings->hierarchy->level_count)
        return bt_fail(error, BT_USAGE, "there is no level %u to sweep over",
                       settings->axes->level + 1);
    struct sweep *made = calloc(1, sizeof *made);
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a sweep");
    made->sink.operations = &operations;
    made->settings = *settings->hierarchy;
    made->level = settings->axes->level;
    made->fastest = settings->fastest;
    made->process = settings->process;
    made->processes = settings->processes ? settings->processes : 1;
    made->threads = settings->threads ? settings->threads : team_processors();
    if (made->threads > TEAM_MEMBERS_MAX)
        made->threads = TEAM_MEMBERS_MAX;
    int result = make_points(made, settings->axes, error);
    if (result == 0)
        result = make_jobs(made, settings->together, error);
    if (result == 0)
        result = team_new(&made->team, made->threads, work, made, error);
    if (result < 0) {
        sweep_free(made);
        return result;
    }
    *sweep = made;
    return 0;
}

unsigned sweep_left_out(const struct sweep *sweep, const char **why)
{
    if (why)
        *why = sweep->why.message;
    return sweep->left_out;
}

void sweep_warm(struct sweep *sweep, const struct extent *warm)
{
    sweep->phases = phases_begin(warm, &(struct extent){.unit = EXTENT_NONE});
}

int sweep_clock(struct sweep *sweep, uint64_t clock_hz, struct bt_error *error)
{
    return phases_clock(&sweep->phases, clock_hz, error);
}

struct sink *sweep_sink(struct sweep *sweep)
{
    return &sweep->sink;
}

/* --- results --- */

static int take_hierarchy(struct sweep *sweep, const struct sweep_job *job, struct bt_error *error)
{
    bool shared = sweep->settings.levels[sweep->level].shared;
    int result = hierarchy_end(job->hierarchy, error);
    for (unsigned side = 0; side < side_count(sweep); side++)
        for (unsigned processor = 0; processor < (shared ? 1 : CACHE_PROCESSORS); processor++) {
            struct cache_counters counters = hierarchy_cache_counters(
                job->hierarchy, sweep->level, (uint8_t)processor, (enum cache_side)side);
            cache_counters_add(&sweep->points[job->first].sides[side], &counters);
        }
    return result;
}

int sweep_end(struct sweep *sweep, struct bt_error *error)
{
    int result = 0;
    if (sweep->phases.warming) {
        sweep->phases.warm_records = sweep->phases.records;
        end_warm_up(sweep, error);
    }
    for (unsigned i = 0; i < sweep->job_count && result == 0; i++) {
        if (sweep->jobs[i].stacks)
            add_stacks(sweep, &sweep->jobs[i], !sweep->settings.no_flush, false);
        else
            result = take_hierarchy(sweep, &sweep->jobs[i], error);
    }
    return result;
}

int sweep_gather(struct sweep *sweep, struct cluster *cluster, struct bt_error *error)
{
    const size_t values = CACHE_SIDES * (sizeof(struct cache_counters) / sizeof(uint64_t));
    if (cluster_size(cluster) == 1)
        return 0;
    uint64_t *sums = calloc(sweep->point_count, values * sizeof *sums);
    if (!sums)
        return bt_fail(error, BT_MEMORY, "no memory to add up a sweep");
    for (unsigned i = 0; i < sweep->point_count; i++)
        memcpy(sums + i * values, sweep->points[i].sides, values * sizeof *sums);
    int result = cluster_sum(cluster, sums, sweep->point_count * values, error);
    for (unsigned i = 0; i < sweep->point_count; i++)
        memcpy(sweep->points[i].sides, sums + i * values, values * sizeof *sums);
    free(sums);
    return result;
}

const struct sweep_point *sweep_points(const struct sweep *sweep, unsigned *count)
{
    *count = sweep->point_count;
    return sweep->points;
}

uint64_t sweep_warm_records(const struct sweep *sweep)
{
    return sweep->phases.warm_records;
}

uint64_t sweep_records(const struct sweep *sweep)
{
    return sweep->records;
}

uint64_t sweep_lost(const struct sweep *sweep)
{
    return sweep->lost;
}

void sweep_free(struct sweep *sweep)
{
    if (!sweep)
        return;
    team_free(sweep->team);
    for (unsigned i = 0; i < sweep->job_count; i++) {
        lru_stacks_free(sweep->jobs[i].stacks);
        hierarchy_free(sweep->jobs[i].hierarchy);
    }
    free(sweep->jobs);
    free(sweep->points);
    free(sweep);
}
