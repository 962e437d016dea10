#include "tools/cache/optimum_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY      4.0  /* a group with more than this many times the median has many misses */
#define CLASS_MIN 4u   /* counted groups from which a class is estimated */
#define DOUBT     0.25 /* of the doubt that no group shows: a deviation, as a share of misses */

static double of_kind(const uint64_t counts[REFERENCE_KINDS], unsigned kind)
{
    return (double)(kind < REFERENCE_KINDS ? counts[kind] : reference_kinds_sum(counts));
}

/* The groups of a sample: the most that the optimum can miss in each, and its misses. */
struct groups {
    double most[CACHE_SAMPLE_GROUPS];
    double optimum[CACHE_SAMPLE_COUNTED];
};

struct range {
    double low, high;
};

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(const double values[CACHE_SAMPLE_GROUPS])
{
    double sorted[CACHE_SAMPLE_GROUPS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, CACHE_SAMPLE_GROUPS, sizeof *sorted, compare_doubles);
    return sorted[CACHE_SAMPLE_GROUPS / 2];
}

/* Sums over a class of groups: those with many misses, or the others. */
struct class_sums {
    unsigned counted, others; /* groups */
    double most, optimum;     /* of the counted ones */
    double others_most;       /* of the others */
    double largest;           /* of the counted ones */
};

static struct class_sums sum_class(const struct groups *groups, double limit, bool many)
{
    struct class_sums sums = {.counted = 0};
    for (unsigned g = 0; g < CACHE_SAMPLE_GROUPS; g++) {
        const double most = groups->most[g];
        if ((most > limit) != many)
            continue;
        if (g >= CACHE_SAMPLE_COUNTED) {
            sums.others++;
            sums.others_most += most;
            continue;
        }
        sums.counted++;
        sums.most += most;
        sums.optimum += groups->optimum[g];
        sums.largest = fmax(sums.largest, most);
    }
    return sums;
}

/* Half the width of the interval of a class whose share of misses is known from its counted groups:
 * their deviations from the share, and the doubt that none of them shows. */
static double half_width(const struct groups *groups, double limit, bool many,
                         const struct class_sums *sums, double share)
{
    static const double student[] = {3.182, 2.776, 2.571, 2.447, 2.365}; /* 3 degrees of freedom */
    _Static_assert(CLASS_MIN == 4 && CACHE_SAMPLE_COUNTED == 8, "a quantile for each count");
    const double n = sums->counted;
    const double doubt = DOUBT * fmax(share, 1 - share) * sums->most / n;
    double squares = doubt * doubt;
    for (unsigned g = 0; g < CACHE_SAMPLE_COUNTED; g++)
        if ((groups->most[g] > limit) == many) {
            const double deviation = groups->optimum[g] - share * groups->most[g];
            squares += deviation * deviation;
        }
    const double variance = sums->others * (sums->others + n) / n * squares / (n - 1);
    const double scale = sums->others_most * n / (sums->most * sums->others);
    return student[sums->counted - CLASS_MIN] * sqrt(variance) * fmax(scale, 1);
}

/* The misses of the optimum in the groups of a class that are not counted. Misses beyond those of
 * the largest counted group are not estimated from it. */
static struct range estimate_others(const struct groups *groups, double limit, bool many,
                                    const struct class_sums *sums)
{
    if (sums->counted < CLASS_MIN || sums->most == 0 || sums->others == 0)
        return (struct range){.low = 0, .high = sums->others_most};
    const double share = sums->optimum / sums->most;
    double beyond = 0;
    for (unsigned g = CACHE_SAMPLE_COUNTED; g < CACHE_SAMPLE_GROUPS; g++)
        if ((groups->most[g] > limit) == many)
            beyond += fmax(groups->most[g] - sums->largest, 0);
    const double middle = share * (sums->others_most - beyond);
    const double half = half_width(groups, limit, many, sums, share);
    return (struct range){.low = fmax(middle - half, 0),
                          .high = fmin(middle + beyond + half, sums->others_most)};
}

static void estimate(struct optimum_bound *bound, const struct cache_counters *counters,
                     unsigned kind, double references)
{
    struct groups groups;
    struct range all = {.low = 0, .high = 0};
    for (unsigned g = 0; g < CACHE_SAMPLE_GROUPS; g++)
        groups.most[g] = (double)(counters->sample_misses[g] + counters->sample_held[g]);
    for (unsigned g = 0; g < CACHE_SAMPLE_COUNTED; g++)
        groups.optimum[g] = of_kind(counters->sample_optimum[g], kind);
    const double limit = MANY * median_of(groups.most);
    for (unsigned many = 0; many < 2; many++) {
        const struct class_sums sums = sum_class(&groups, limit, many);
        const struct range others = estimate_others(&groups, limit, many, &sums);
        all.low += sums.optimum + others.low;
        all.high += sums.optimum + others.high;
    }
    all.high = fmax(fmin(all.high, references), all.low);
    bound->misses = (uint64_t)((all.low + all.high) / 2 + 0.5);
    if (references > 0) {
        bound->ratio = (all.low + all.high) / 2 / references;
        bound->error = (all.high - all.low) / 2 / references;
    }
}

struct optimum_bound optimum_bound(const struct hierarchy_settings *settings, unsigned level,
                                   enum cache_side side, const struct cache_counters *counters,
                                   unsigned kind)
{
    const double references = of_kind(counters->references, kind);
    struct optimum_bound bound = {.known = settings->optimum || settings->optimum_sample};
    if (hierarchy_samples_optimum(settings, level, side)) {
        estimate(&bound, counters, kind, references);
    } else if (bound.known) {
        bound.misses = (uint64_t)of_kind(counters->optimum_misses, kind);
        bound.ratio = references > 0 ? (double)bound.misses / references : 0;
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
    const size_t count = samples                                         ? OPTIMUM_BOUND_COLUMNS
                         : settings->optimum || settings->optimum_sample ? 2
                                                                         : 0;
    for (size_t i = 0; i < count; i++)
        columns[i] = samples ? estimated[i] : counted[i];
    return count;
}

void optimum_bound_cells(const struct optimum_bound *bound,
                         const struct hierarchy_settings *settings, uint64_t references,
                         struct table_cell *cells)
{
    const bool none = !bound->known || references == 0;
    cells[0] = (struct table_cell){.number = bound->misses, .none = !bound->known};
    cells[1] = (struct table_cell){.real = bound->ratio, .none = none};
    if (has_samples(settings))
        cells[2] = (struct table_cell){
            .real = bound->error, .text = bound->error > 0 ? NULL : "exact", .none = none};
}

void optimum_bound_print(const struct hierarchy_settings *settings, FILE *out)
{
    if (has_samples(settings))
        fputs("optimum estimated from an eighth of the sets, +- a confidence interval of at least "
              "95 %; --optimum counts it\n",
              out);
}
