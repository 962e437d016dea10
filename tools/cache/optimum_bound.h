/* The misses of the optimum in a report: counted, or estimated from a sample of the sets with a
 * confidence interval. doc/cache-model.md, "The optimum". */
#ifndef TOOLS_CACHE_OPTIMUM_BOUND_H
#define TOOLS_CACHE_OPTIMUM_BOUND_H

#include "formats/text/table.h"
#include "tools/cache/model/hierarchy.h"

#define OPTIMUM_BOUND_COLUMNS 3u

struct optimum_bound {
    bool known;
    uint64_t misses; /* line misses of demand references */
    double ratio;    /* of them to references; 0 without references */
    double error;    /* half-width of the 95 % confidence interval of ratio; 0: exact */
};

/* The bound of one kind of references, or of all (REFERENCE_KINDS), to caches of that level and
 * side, whose counters may be sums. */
struct optimum_bound optimum_bound(const struct hierarchy_settings *settings, unsigned level,
                                   enum cache_side side, const struct cache_counters *counters,
                                   unsigned kind);

/* The columns of a bound: misses, ratio and error. Returns their number: 0, if no cache has one. */
size_t optimum_bound_columns(const struct hierarchy_settings *settings,
                             struct table_column *columns);

/* The cells of these columns. */
void optimum_bound_cells(const struct optimum_bound *bound,
                         const struct hierarchy_settings *settings, uint64_t references,
                         struct table_cell *cells);

/* Prints how estimates are made, if a cache has one. */
void optimum_bound_print(const struct hierarchy_settings *settings, FILE *out);

#endif
