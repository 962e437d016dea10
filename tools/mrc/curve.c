#include "tools/mrc/curve.h"

#include "tools/mrc/buckets.h"
#include "tools/mrc/sample.h"

#include <math.h>
#include <stdlib.h>

#define DEVIATIONS 2.04 /* 95 % quantile (two-sided) of Student's t with 31 degrees of freedom */

static int new_hits(struct curve *curve, uint64_t end, struct bt_error *error)
{
    curve->end = end;
    curve->hits = calloc(end + 1, sizeof *curve->hits);
    return curve->hits ? 0 : bt_fail(error, BT_MEMORY, "no memory for a curve");
}

/* A curve from the groups of a sample of a fixed number of lines. */
static int init_scaled(struct curve *curve, struct bt_error *error)
{
    double counts[BUCKETS_DISTANCE + 1] = {0};
    uint32_t last = 0;
    for (unsigned group = 0; group < SAMPLE_GROUPS; group++)
        for (unsigned bucket = 0; bucket <= BUCKETS_DISTANCE; bucket++)
            counts[bucket] +=
                (double)curve->groups[group * (BUCKETS_DISTANCE + 1) + bucket] / SERIES_WEIGHT;
    for (uint32_t i = 0; i < BUCKETS_DISTANCE; i++)
        last = counts[i] > 0 ? i + 1 : last;
    if (new_hits(curve, last, error) < 0)
        return error->code;
    double hits = 0;
    for (uint32_t i = 0; i < last; i++) {
        hits += counts[i];
        curve->hits[i + 1] = (uint64_t)(hits + 0.5);
    }
    curve->in_buckets = curve->scaled = true;
    curve->followed = (uint64_t)(hits + counts[BUCKETS_DISTANCE] + 0.5);
    curve->compulsory = curve_misses(curve, UINT64_MAX);
    return 0;
}

/* Misses on followed lines in the simulated cache of a size. */
static uint64_t misses_of_size(const struct curve *curve, unsigned size)
{
    uint64_t misses = 0;
    for (unsigned group = 0; group < curve->size_groups; group++)
        misses += curve->size_misses[size * curve->size_groups + group];
    return misses;
}

/* Number of simulated sizes up to `lines`. */
static unsigned sizes_up_to(const struct curve *curve, uint64_t lines)
{
    unsigned count = 0;
    while (count < curve->size_count && curve->sizes->ways[count] <= lines)
        count++;
    return count;
}

/* Takes the misses of simulated caches from the study, if it has some. */
static void take_sizes(struct curve *curve, const struct mrc_study *study, unsigned number)
{
    curve->sizes = mrc_study_sizes(study);
    curve->size_misses = mrc_study_misses(study, number, &curve->size_groups);
    if (!curve->size_misses)
        return;
    curve->size_count = curve->sizes->count;
    while (curve->size_count > 1 && misses_of_size(curve, curve->size_count - 1) ==
                                        misses_of_size(curve, curve->size_count - 2))
        curve->size_count--;
}

int curve_init(struct curve *curve, const struct mrc_study *study, unsigned number,
               struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_study_settings(study);
    const struct series *series = mrc_study_series(study, number);
    const struct histogram *distances = &series->distances;
    *curve = (struct curve){.references = series->references,
                            .rate = (double)settings->sample / (double)SAMPLE_ALL,
                            .groups = series->groups};
    if (settings->sample_lines > 0)
        return init_scaled(curve, error);
    if (new_hits(curve, histogram_end(distances), error) < 0)
        return error->code;
    for (uint64_t i = 0; i < curve->end; i++)
        curve->hits[i + 1] = curve->hits[i] + histogram_count(distances, i);
    curve->followed = series->cold + curve->hits[curve->end];
    curve->compulsory = series->cold;
    curve->compulsory = curve_misses(curve, UINT64_MAX);
    take_sizes(curve, study, number);
    return 0;
}

int curve_init_window(struct curve *curve, const uint64_t *counts, struct bt_error *error)
{
    uint32_t last = 0;
    *curve = (struct curve){.compulsory = counts[BUCKETS_DISTANCE], .in_buckets = true, .rate = 1};
    for (uint32_t i = 0; i < BUCKETS_DISTANCE; i++)
        last = counts[i] > 0 ? i + 1 : last;
    if (new_hits(curve, last, error) < 0)
        return error->code;
    for (uint32_t i = 0; i < last; i++)
        curve->hits[i + 1] = curve->hits[i] + counts[i];
    curve->references = curve->compulsory + curve->hits[last];
    curve->followed = curve->references;
    return 0;
}

void curve_free(struct curve *curve)
{
    free(curve->hits);
    curve->hits = NULL;
}

/* The smallest cache of sampled lines that represents a cache of `lines` lines. */
static uint64_t followed_lines(const struct curve *curve, uint64_t lines)
{
    if (curve->in_buckets)
        return lines == UINT64_MAX ? curve->end : buckets_of(lines);
    if (curve->rate == 1)
        return lines;
    const double wanted = ceil((double)lines * curve->rate);
    return wanted < (double)curve->end ? (uint64_t)wanted : curve->end;
}

/* The inverse: the smallest cache that a cache of `lines` sampled lines, not 0, represents. */
static uint64_t all_lines(const struct curve *curve, uint64_t followed)
{
    if (curve->in_buckets)
        return buckets_first((uint32_t)followed);
    if (curve->rate == 1)
        return followed;
    uint64_t lines = (uint64_t)((double)(followed - 1) / curve->rate);
    while (followed_lines(curve, lines) < followed)
        lines++;
    return lines;
}

uint64_t curve_misses(const struct curve *curve, uint64_t lines)
{
    uint64_t size = followed_lines(curve, lines);
    size = size < curve->end ? size : curve->end;
    const unsigned simulated = sizes_up_to(curve, lines);
    const uint64_t misses = simulated > 0        ? misses_of_size(curve, simulated - 1)
                            : curve->size_misses ? curve->followed
                                                 : curve->followed - curve->hits[size];
    if (curve->rate == 1)
        return misses;
    const double all = (double)misses / (curve->scaled ? 1 : curve->rate) + 0.5;
    return all < (double)curve->references ? (uint64_t)all : curve->references;
}

double curve_ratio(const struct curve *curve, uint64_t misses)
{
    return curve->references > 0 ? (double)misses / (double)curve->references : 0;
}

/* Misses on the followed lines of a group. */
static uint64_t group_misses(const struct curve *curve, uint64_t lines, unsigned group)
{
    const uint64_t size = followed_lines(curve, lines);
    const uint64_t *counts = curve->groups + group * (BUCKETS_DISTANCE + 1);
    uint64_t misses = counts[BUCKETS_DISTANCE];
    if (curve->size_misses) {
        const unsigned sizes = sizes_up_to(curve, lines);
        return curve->size_misses[(sizes > 0 ? sizes - 1 : 0) * curve->size_groups + group];
    }
    for (uint32_t i = curve->in_buckets   ? (uint32_t)size
                      : size < UINT32_MAX ? buckets_of(size)
                                          : BUCKETS_DISTANCE;
         i < BUCKETS_DISTANCE; i++)
        misses += counts[i];
    return misses;
}

/* Standard deviation of the miss ratio, from the misses of each group of lines. */
static double deviation(const struct curve *curve, uint64_t lines)
{
    double sum = 0;
    double squares = 0;
    for (unsigned group = 0; group < SAMPLE_GROUPS; group++) {
        const uint64_t misses = group_misses(curve, lines, group);
        sum += (double)misses;
        squares += (double)misses * (double)misses;
    }
    const double variance = (squares - sum * sum / SAMPLE_GROUPS) / (SAMPLE_GROUPS - 1);
    const double of_sum = sqrt(variance > 0 ? variance * SAMPLE_GROUPS : 0);
    return of_sum / (curve->scaled ? SERIES_WEIGHT : curve->rate) / (double)curve->references;
}

/* The smallest simulated size of at least `lines` lines, else the largest. */
static uint64_t size_above(const struct curve *curve, uint64_t lines)
{
    const unsigned below = lines > 0 ? sizes_up_to(curve, lines - 1) : 0;
    return curve->sizes->ways[below < curve->size_count ? below : below - 1];
}

/* The smallest size of at least `lines` lines at which a curve in buckets is known. */
static uint64_t bucket_above(uint64_t lines)
{
    const uint32_t bucket = buckets_of(lines);
    return bucket < BUCKETS_DISTANCE - 1 && buckets_first(bucket) < lines
               ? buckets_first(bucket + 1)
               : lines;
}

struct curve_interval curve_interval(const struct curve *curve, uint64_t lines)
{
    const double ratio = curve_ratio(curve, curve_misses(curve, lines));
    if (curve->rate == 1 || curve->references == 0)
        return (struct curve_interval){.low = ratio, .high = ratio};
    const double size = (double)lines;
    const double around = DEVIATIONS * sqrt(size * (1 - curve->rate) / curve->rate);
    const double less = size - around;
    const double low_size = less < 0 ? 0 : floor(less);
    const uint64_t high_size = (uint64_t)(size + around < 0x1p62 ? ceil(size + around) : 0x1p62);
    const uint64_t above = curve->size_misses  ? size_above(curve, high_size)
                           : curve->in_buckets ? bucket_above(high_size)
                                               : high_size;
    const double low = curve_ratio(curve, curve_misses(curve, above));
    const double high = curve_ratio(curve, curve_misses(curve, (uint64_t)low_size));
    const double spread = DEVIATIONS * deviation(curve, lines);
    /* caches smaller than one sampled line represents are unknown */
    const bool small = less < 1 / curve->rate;
    return (struct curve_interval){.low = fmax(low - spread, 0),
                                   .high = small ? 1 : fmin(high + spread, 1)};
}

uint64_t curve_next(const struct curve *curve, uint64_t lines, unsigned steps)
{
    if (curve->size_misses) {
        const unsigned next = sizes_up_to(curve, lines);
        return next < curve->size_count ? curve->sizes->ways[next] : 0;
    }
    uint64_t followed = followed_lines(curve, lines);
    if (lines == 0)
        return 1;
    if (followed >= curve->end)
        return 0;
    if (steps > 0)
        return buckets_step(lines, steps);
    for (followed++; followed < curve->end; followed++)
        if (curve->hits[followed] != curve->hits[followed - 1])
            break;
    const uint64_t next = all_lines(curve, followed);
    return next > lines ? next : lines + 1;
}
