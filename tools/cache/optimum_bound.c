#include "tools/cache/optimum_bound.h"

#include "tools/cache/model/optimum.h"

#include <inttypes.h>
#include <math.h>

#define STUDENT_95 2.365 /* two-sided 95 % quantile of Student's t with 7 degrees of freedom */
_Static_assert(CACHE_SAMPLE_GROUPS == 8, "the quantile is that of 8 groups");

static double of_kind(const uint64_t counts[REFERENCE_KINDS], unsigned kind)
{
    return (double)(kind < REFERENCE_KINDS ? counts[kind] : reference_kinds_sum(counts));
}

/*
 * The share of the cache's misses that the optimum has, too, is estimated from the sample, and
 * applied to all misses, which are known. The groups' deviations from that share give its variance.
 * If the optimum saves no miss in the sample, three sets in that many may differ.
 */
static void estimate(struct optimum_bound *bound, const struct cache_counters *counters,
                     unsigned kind, uint32_t sets, uint32_t sample, double references)
{
    const double all_misses = of_kind(counters->line_misses, kind);
    double optimum = 0;
    double misses = 0;
    for (unsigned group = 0; group < CACHE_SAMPLE_GROUPS; group++) {
        optimum += of_kind(counters->sample_optimum[group], kind);
        misses += of_kind(counters->sample_misses[group], kind);
    }
    bound->known = misses > 0 || all_misses == 0;
    if (misses == 0 || references == 0)
        return;
    const double share = optimum / misses;
    double squares = 0;
    for (unsigned group = 0; group < CACHE_SAMPLE_GROUPS; group++) {
        const double deviation = of_kind(counters->sample_optimum[group], kind) -
                                 share * of_kind(counters->sample_misses[group], kind);
        squares += deviation * deviation;
    }
    const double variance = (1 - (double)sample / sets) * CACHE_SAMPLE_GROUPS /
                            (CACHE_SAMPLE_GROUPS - 1.0) * squares / (misses * misses);
    bound->misses = (uint64_t)(share * all_misses + 0.5);
    bound->ratio = share * all_misses / references;
    const double error = optimum < misses ? STUDENT_95 * sqrt(variance) : 3.0 / sample;
    bound->error = error * all_misses / references;
}

struct optimum_bound optimum_bound(const struct hierarchy_settings *settings, unsigned level,
                                   enum cache_side side, const struct cache_counters *counters,
                                   unsigned kind)
{
    const double references = of_kind(counters->references, kind);
    struct optimum_bound bound = {.known = settings->optimum};
    if (settings->optimum) {
        bound.misses = (uint64_t)of_kind(counters->optimum_misses, kind);
        bound.ratio = references > 0 ? (double)bound.misses / references : 0;
    } else if (hierarchy_samples_optimum(settings, level, side)) {
        const struct cache_level *kinds = &settings->levels[level];
        const uint32_t sets = hierarchy_sets(&kinds->sides[kinds->split ? side : 0]);
        estimate(&bound, counters, kind, sets, optimum_sample(sets), references);
    }
    return bound;
}

static bool has_samples(const struct hierarchy_settings *settings)
{
    for (unsigned level = 0; level < settings->level_count; level++)
        if (hierarchy_samples_optimum(settings, level, CACHE_INSTRUCTION) ||
            hierarchy_samples_optimum(settings, level, CACHE_DATA))
            return true;
    return false;
}

size_t optimum_bound_columns(const struct hierarchy_settings *settings,
                             struct table_column *columns)
{
    static const struct table_column counted[] = {{"OPTIMUM", "optimum_misses", TABLE_COUNT},
                                                  {"RATIO", "optimum_miss_ratio", TABLE_SHARE}};
    static const struct table_column estimated[OPTIMUM_BOUND_COLUMNS] = {
        {"OPTIMUM ABOUT", "optimum_misses_estimate", TABLE_COUNT},
        {"RATIO", "optimum_miss_ratio_estimate", TABLE_SHARE},
        {"+-", "optimum_miss_ratio_error", TABLE_SHARE}};
    const bool samples = has_samples(settings);
    const size_t count = settings->optimum ? 2 : samples ? OPTIMUM_BOUND_COLUMNS : 0;
    for (size_t i = 0; i < count; i++)
        columns[i] = settings->optimum ? counted[i] : estimated[i];
    return count;
}

void optimum_bound_cells(const struct optimum_bound *bound,
                         const struct hierarchy_settings *settings, uint64_t references,
                         struct table_cell *cells)
{
    cells[0] = (struct table_cell){.number = bound->misses, .none = !bound->known};
    cells[1] = (struct table_cell){.real = bound->ratio, .none = !bound->known || references == 0};
    if (!settings->optimum)
        cells[2] =
            (struct table_cell){.real = bound->error, .none = !bound->known || references == 0};
}

void optimum_bound_print(const struct hierarchy_settings *settings, FILE *out)
{
    const char *before = "";
    if (settings->optimum || !settings->optimum_sample)
        return;
    fputs("optimum ", out);
    if (has_samples(settings)) {
        fputs("estimated in a sample of the sets, +- the 95 % confidence interval", out);
        before = ", ";
    }
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < (settings->levels[level].split ? CACHE_SIDES : 1u); side++) {
            static const char *const names[] = {" instruction", " data"};
            if (hierarchy_samples_optimum(settings, level, (enum cache_side)side))
                continue;
            const uint32_t sets = hierarchy_sets(&settings->levels[level].sides[side]);
            fprintf(out, "%snot estimated for level %u%s (%" PRIu32 " %s)", before, level + 1,
                    settings->levels[level].split ? names[side] : "", sets,
                    sets == 1 ? "set" : "sets: too few");
            before = ", ";
        }
    fputs("; --optimum counts it\n", out);
}
