#include "tools/cache/study/compare.h"

#include "tools/cache/study/results_message.h"
#include "tools/cache/study/simulation.h"

#include <stdlib.h>

struct comparison {
    struct sink sink;
    const struct compared *compared;
    unsigned count;
    uint64_t lost;
    struct simulation *simulations[COMPARE_MAX];
    struct cache_results results[COMPARE_MAX];
};

static int put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct comparison *comparison = (struct comparison *)sink;
    int result = 0;
    comparison->lost += loss_total(&batch->lost);
    for (unsigned i = 0; i < comparison->count && result == 0; i++)
        if (simulation_takes_part(comparison->simulations[i]))
            result = sink_put(simulation_sink(comparison->simulations[i]), batch, error);
    return result;
}

static const struct sink_operations operations = {put, sink_close_nothing};

int comparison_new(struct comparison **comparison, const struct compared *compared, unsigned count,
                   unsigned threads, const struct cluster *cluster, struct bt_error *error)
{
    struct comparison *made = calloc(1, sizeof *made);
    int result = 0;
    *comparison = NULL;
    if (!made)
        return bt_fail(error, BT_MEMORY, "no memory for a comparison");
    made->sink.operations = &operations;
    made->compared = compared;
    for (unsigned i = 0; i < count && result == 0; i++) {
        made->count = i + 1;
        result =
            simulation_new(&made->simulations[i], compared[i].settings, threads, cluster, error);
        if (result < 0)
            bt_fail_within(error, "%.100s", compared[i].name);
    }
    if (result < 0)
        comparison_free(made);
    else
        *comparison = made;
    return result;
}

void comparison_divide(struct comparison *comparison, const struct phases *phases)
{
    for (unsigned i = 0; i < comparison->count; i++)
        simulation_divide(comparison->simulations[i], phases);
}

int comparison_clock(struct comparison *comparison, uint64_t clock_hz, struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 0; i < comparison->count && result == 0; i++)
        result = simulation_clock(comparison->simulations[i], clock_hz, error);
    return result;
}

struct sink *comparison_sink(struct comparison *comparison)
{
    return &comparison->sink;
}

int comparison_end(struct comparison *comparison, struct cluster *cluster, struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 0; i < comparison->count && result == 0; i++) {
        result = simulation_end(comparison->simulations[i], &comparison->results[i], error);
        if (result == 0)
            result = cache_results_gather(&comparison->results[i], cluster, error);
    }
    return result;
}

const struct cache_results *comparison_results(const struct comparison *comparison, unsigned number)
{
    return &comparison->results[number];
}

unsigned comparison_count(const struct comparison *comparison)
{
    return comparison->count;
}

const char *comparison_name(const struct comparison *comparison, unsigned number)
{
    return comparison->compared[number].name;
}

uint64_t comparison_lost(const struct comparison *comparison)
{
    return comparison->lost;
}

void comparison_free(struct comparison *comparison)
{
    if (!comparison)
        return;
    for (unsigned i = 0; i < comparison->count; i++) {
        simulation_free(comparison->simulations[i]);
        cache_results_clear(&comparison->results[i]);
    }
    free(comparison);
}
