#include "tools/cache/study/simulation.h"

#include "formats/base/thread.h"
#include "tools/cache/study/partition.h"

#include <stdlib.h>

/* With fewer processors, a quick simulation leaves the others to those who read and decompress. */
#define PROCESSORS_MIN 4u

struct simulation {
    struct sink sink;
    struct hierarchy_settings settings;
    struct partition *partition; /* NULL: one part, which the caller simulates */
    struct hierarchy *parts[SIMULATION_THREADS_MAX];
    unsigned part_count;
    bool is_divided; /* among threads or processes */
    struct phases phases;
    struct intervals intervals;
    struct attribution *attribution; /* the caller's; NULL: none */
    struct hierarchy_blocks *blocks; /* NULL: no executions yet */
    uint64_t lost;
};

/* Takes the counters of a phase, or forgets those of the warm-up. */
static int end_phase(void *context, struct bt_error *error)
{
    struct simulation *simulation = context;
    const int result = simulation->partition ? partition_wait(simulation->partition, error) : 0;
    if (result < 0)
        return result;
    if (!simulation->phases.warming)
        return simulation->phases.interval.unit == EXTENT_NONE
                   ? 0
                   : intervals_add(&simulation->intervals, &simulation->phases, simulation->parts,
                                   simulation->part_count, error);
    for (unsigned part = 0; part < simulation->part_count; part++)
        hierarchy_reset_counters(simulation->parts[part]);
    if (simulation->attribution)
        attribution_reset(simulation->attribution);
    return 0;
}

static int put_phase(void *context, const struct record *records, size_t count,
                     struct bt_error *error)
{
    const struct simulation *simulation = context;
    if (simulation->partition)
        return partition_put(simulation->partition, records, count, error);
    return simulation->attribution ? attribution_put(simulation->attribution, simulation->parts[0],
                                                     records, count, error)
                                   : hierarchy_put(simulation->parts[0], records, count, error);
}

static int put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    static const struct phase_operations phases = {put_phase, end_phase};
    struct simulation *simulation = (struct simulation *)sink;
    simulation->lost += loss_total(&batch->lost);
    return phases_divide(&simulation->phases, batch, &phases, simulation, error);
}

static const struct sink_operations operations = {put, sink_close_nothing};

const char *simulation_one_thread(const struct hierarchy_settings *settings)
{
    const struct cache_level *first = &settings->levels[0];
    const bool direct = settings->level_count == 1 && first->sides[0].ways == 1 &&
                        (!first->split || first->sides[1].ways == 1);
    if (settings->accesses)
        return "the accesses of lines are counted in the order of all records";
    if (direct && settings->coherence == CACHE_INCOHERENT && !settings->optimum)
        return "dividing the records takes as long as simulating a direct-mapped cache";
    return NULL;
}

/* Number of parts, over all processes. */
static int count_parts(unsigned *parts, const struct hierarchy_settings *settings, unsigned threads,
                       unsigned processes, struct bt_error *error)
{
    int result = hierarchy_check(settings, error);
    if (result < 0)
        return result;
    if (threads > 1) {
        result = hierarchy_check_parts(settings, error);
        if (result < 0)
            return result;
    }
    unsigned most = hierarchy_parts_max(settings);
    unsigned each = threads ? threads : thread_processors();
    if (threads == 0 && each < PROCESSORS_MIN && hierarchy_is_quick(settings))
        each = 1;
    each = each < SIMULATION_THREADS_MAX ? each : SIMULATION_THREADS_MAX;
    if (simulation_one_thread(settings))
        each = 1;
    *parts = each * processes < most ? each * processes : most;
    return 0;
}

/* The first part of a process; process 0 always has one. */
static unsigned first_part(unsigned parts, unsigned rank, unsigned size)
{
    return (unsigned)(((uint64_t)parts * rank + size - 1) / size);
}

int simulation_new(struct simulation **simulation, const struct hierarchy_settings *settings,
                   unsigned threads, const struct cluster *cluster, struct bt_error *error)
{
    unsigned rank = (unsigned)cluster_rank(cluster);
    unsigned size = (unsigned)cluster_size(cluster);
    unsigned parts;
    *simulation = NULL;
    int result = count_parts(&parts, settings, threads, size, error);
    if (result < 0)
        return result;
    struct simulation *made = calloc(1, sizeof *made);
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a simulation");
    made->sink.operations = &operations;
    made->settings = *settings;
    made->is_divided = parts > 1;
    unsigned end = first_part(parts, rank + 1, size);
    const unsigned first = first_part(parts, rank, size);
    for (unsigned part = first; part < end && result == 0; part++) {
        result = hierarchy_new_part(&made->parts[made->part_count], settings, part, parts, error);
        made->part_count++;
    }
    if (result == 0 && made->part_count > 1)
        result =
            partition_new(&made->partition, made->parts, first, made->part_count, parts, error);
    if (result < 0) {
        simulation_free(made);
        return result;
    }
    *simulation = made;
    return 0;
}

struct sink *simulation_sink(struct simulation *simulation)
{
    return &simulation->sink;
}

bool simulation_takes_executions(const struct simulation *simulation)
{
    return simulation->part_count == 1 && !simulation->is_divided && !simulation->attribution &&
           simulation->phases.warm.unit == EXTENT_NONE &&
           simulation->phases.interval.unit == EXTENT_NONE &&
           hierarchy_takes_executions(simulation->parts[0]);
}

int simulation_put_executions(struct simulation *simulation, const struct batch *batch,
                              const struct block_executions *executions, struct bt_error *error)
{
    uint64_t tick = batch->first_tick;
    if (!simulation->blocks)
        simulation->blocks = hierarchy_blocks_new(simulation->parts[0], error);
    if (!simulation->blocks)
        return BT_MEMORY;
    simulation->lost += loss_total(&batch->lost);
    phases_take(&simulation->phases, batch, 0, &tick); /* all: there is one phase */
    return hierarchy_put_executions(simulation->blocks, executions, error);
}

void simulation_divide(struct simulation *simulation, const struct phases *phases)
{
    simulation->phases = *phases;
}

int simulation_attribute(struct simulation *simulation, struct attribution *attribution,
                         struct bt_error *error)
{
    if (simulation->part_count != 1 || simulation->is_divided)
        return bt_fail(error, BT_USAGE,
                       "misses are attributed by one thread of one process: --by excludes more");
    simulation->attribution = attribution;
    return 0;
}

int simulation_clock(struct simulation *simulation, uint64_t clock_hz, struct bt_error *error)
{
    return phases_clock(&simulation->phases, clock_hz, error);
}

bool simulation_takes_part(const struct simulation *simulation)
{
    return simulation->part_count > 0;
}

int simulation_end(struct simulation *simulation, struct cache_results *results,
                   struct bt_error *error)
{
    int result = simulation->phases.records > 0 ? end_phase(simulation, error) : 0;
    const bool warming = simulation->phases.warming;
    *results = (struct cache_results){.settings = simulation->settings};
    if (result == 0 && simulation->phases.records > 0)
        phases_next(&simulation->phases, simulation->phases.last_tick);
    for (unsigned part = 0; part < simulation->part_count && result == 0; part++) {
        struct cache_results one;
        result = hierarchy_end(simulation->parts[part], error);
        if (result == 0)
            result = cache_results_take(part == 0 ? results : &one, simulation->parts[part],
                                        &simulation->settings, error);
        if (part == 0 || result < 0)
            continue;
        result = cache_results_add(results, &one, error);
        cache_results_clear(&one);
    }
    results->warm_records = simulation->phases.warm_records;
    results->all_warm = warming;
    results->intervals = simulation->intervals;
    simulation->intervals = (struct intervals){.count = 0};
    return result;
}

uint64_t simulation_lost(const struct simulation *simulation)
{
    return simulation->lost;
}

void simulation_free(struct simulation *simulation)
{
    if (!simulation)
        return;
    partition_free(simulation->partition);
    hierarchy_blocks_free(simulation->blocks);
    for (unsigned part = 0; part < simulation->part_count; part++)
        hierarchy_free(simulation->parts[part]);
    intervals_clear(&simulation->intervals);
    free(simulation);
}
