/* Several hierarchies over the same records; compare_report.h compares them. */
#ifndef TOOLS_CACHE_STUDY_COMPARE_H
#define TOOLS_CACHE_STUDY_COMPARE_H

#include "formats/record/sink.h"
#include "tools/cache/study/results.h"
#include "tools/common/cluster.h"

#define COMPARE_MAX 64u

/* A hierarchy and its name in the report. */
struct compared {
    const char *name;
    const struct hierarchy_settings *settings;
};

struct comparison;

/* count: 1 to COMPARE_MAX; names and settings must outlive the comparison. threads as for
 * simulation_new, in each hierarchy. 0, BT_USAGE or BT_MEMORY. */
int comparison_new(struct comparison **comparison, const struct compared *compared, unsigned count,
                   unsigned threads, const struct cluster *cluster, struct bt_error *error);

/* As simulation_divide and simulation_clock, for all hierarchies. */
void comparison_divide(struct comparison *comparison, const struct phases *phases);
int comparison_clock(struct comparison *comparison, uint64_t clock_hz, struct bt_error *error);

/* The sink for the records. The comparison owns it; it is not closed. */
struct sink *comparison_sink(struct comparison *comparison);

/* Ends the simulations and collects the results of all processes in the first. 0, BT_IO, BT_DATA or
 * BT_MEMORY. */
int comparison_end(struct comparison *comparison, struct cluster *cluster, struct bt_error *error);

/* The results of a hierarchy, after comparison_end; valid as long as the comparison. */
const struct cache_results *comparison_results(const struct comparison *comparison,
                                               unsigned number);

unsigned comparison_count(const struct comparison *comparison);
const char *comparison_name(const struct comparison *comparison, unsigned number);
uint64_t comparison_lost(const struct comparison *comparison); /* requests lost by the capture */

/* comparison may be NULL. */
void comparison_free(struct comparison *comparison);

#endif
