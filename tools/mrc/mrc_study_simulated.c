/* Curves of simulated caches: which sizes, and their misses. */
#include "tools/mrc/buckets.h"
#include "tools/mrc/mrc_study_internal.h"
#include "tools/mrc/sample.h"

#include <inttypes.h>
#include <stdlib.h>

#define LINES_MAX (UINT64_C(1) << 26) /* of a cache, as in `bustap cache` */

/* Ways that hold all lines of each cache, as far as the counts show: with sets they show how many
 * lines of a set were used between two uses of one, and how many a set has on average. */
static uint64_t ways_for_all(const struct mrc_study *study)
{
    const uint32_t sets = study->settings.sets;
    uint64_t most = 1;
    uint64_t lines = 0;
    for (unsigned i = 0; i < MRC_SERIES_MAX; i++) {
        const struct series *series = study->series[i];
        lines = i % study->kinds == 0 ? 0 : lines;
        if (!series)
            continue;
        lines += series->cold;
        const uint64_t apart = histogram_end(&series->distances);
        const uint64_t ways = sets == 1 ? lines : 2 * lines / sets + 1;
        most = most > ways ? most : ways;
        most = most > apart ? most : apart;
    }
    return most;
}

void mrc_study_choose_sizes(const struct mrc_study *study, unsigned steps,
                            struct simulated_sizes *sizes)
{
    const double rate = (double)study->settings.sample / (double)SAMPLE_ALL;
    const uint64_t most = LINES_MAX / study->settings.sets;
    const uint64_t enough = ways_for_all(study);
    sizes->count = 0;
    for (uint64_t ways = 1; sizes->count < SIMULATED_SIZES_MAX; ways = buckets_step(ways, steps)) {
        const uint64_t followed = (uint64_t)((double)ways * rate + 0.5);
        if (followed > most)
            break;
        if ((double)ways * rate < 1)
            continue;
        sizes->ways[sizes->count] = ways;
        sizes->followed[sizes->count++] = (uint32_t)followed;
        if (followed >= enough)
            break;
    }
}

/* Copies the misses of a part's series to every count-th size. */
static void take_part(struct mrc_study *study, unsigned number, const struct mrc_study *part,
                      unsigned first, unsigned count)
{
    const uint64_t *misses = simulated_misses(part->simulated, number);
    const unsigned groups = study->taken_groups;
    for (unsigned size = first, at = 0; misses && size < study->taken_sizes->count;
         size += count, at++)
        for (unsigned group = 0; group < groups; group++)
            study->taken_misses[number][size * groups + group] = misses[at * groups + group];
}

int mrc_study_take_simulated(struct mrc_study *study, const struct simulated_sizes *sizes,
                             const struct mrc_study *const *parts, unsigned count,
                             struct bt_error *error)
{
    if (parts[0]->totals.requests != study->totals.requests)
        return bt_fail(error, BT_DATA,
                       "the trace has changed while it was read: it had %" PRIu64
                       " requests, then %" PRIu64,
                       study->totals.requests, parts[0]->totals.requests);
    study->taken_groups = simulated_groups(parts[0]->simulated);
    study->taken_sizes = malloc(sizeof *study->taken_sizes);
    if (!study->taken_sizes)
        return bt_fail(error, BT_MEMORY, "no memory for a curve");
    *study->taken_sizes = *sizes;
    for (unsigned i = 0; i < MRC_SERIES_MAX; i++) {
        if (!study->series[i])
            continue;
        study->taken_misses[i] =
            calloc((size_t)sizes->count * study->taken_groups + 1, sizeof **study->taken_misses);
        if (!study->taken_misses[i])
            return bt_fail(error, BT_MEMORY, "no memory for a curve");
        for (unsigned part = 0; part < count; part++)
            take_part(study, i, parts[part], part, count);
    }
    return 0;
}

const struct simulated_sizes *mrc_study_sizes(const struct mrc_study *study)
{
    return study->taken_sizes;
}

const uint64_t *mrc_study_misses(const struct mrc_study *study, unsigned number, unsigned *groups)
{
    *groups = study->taken_groups;
    return study->taken_misses[number];
}
