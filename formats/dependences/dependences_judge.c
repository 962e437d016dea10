#include "formats/dependences/dependences_judge_internal.h"

#include "formats/base/saturating.h"

#include <inttypes.h>
#include <math.h>

#define MEAN_ERROR 1e-5 /* relative: a mean has six digits */

static bool is_unknown(const char *name)
{
    return !name || !*name;
}

void dependences_judge_place(struct dependences_judge *judge, const char *where,
                             const struct dependence_place *place)
{
    if (place->line > 0 && is_unknown(place->file))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_PLACE, where,
                                 "line %" PRIu32 " of no file", place->line);
    if (place->offset != DEPENDENCES_UNKNOWN && is_unknown(place->module))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_PLACE, where,
                                 "offset 0x%" PRIx64 " in no module", place->offset);
}

/* --- loops -------------------------------------------------------------------------------------
 */

static void judge_verdict(struct dependences_judge *judge, const char *where,
                          const struct dependence_loop *loop)
{
    const char *name = dependence_verdict_names[loop->verdict];
    if (loop->verdict == DEPENDENCE_INDEPENDENT && loop->carried)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_VERDICT, where,
                                 "an independent loop carries dependences");
    if (loop->verdict == DEPENDENCE_PRIVATIZABLE && (loop->carried >> DEPENDENCE_RAW & 1))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_VERDICT, where,
                                 "a privatizable loop carries RAW");
    if ((loop->verdict == DEPENDENCE_DISTANCE) != (loop->distance > 0))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_VERDICT, where,
                                 "a loop with verdict %s and distance %" PRIu64
                                 ": only verdict distance has one, of at least 1",
                                 name, loop->distance);
    if (loop->carried & ~judge->kinds)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_KIND, where,
                                 "the loop carries a kind that was not traced");
}

void dependences_judge_loop(struct dependences_judge *judge, const char *where,
                            const struct dependence_loop *loop)
{
    const uint64_t all = judge->dependences->totals.instructions;
    if (loop->entries == 0 || loop->iterations < loop->entries)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_LOOP, where,
                                 "%" PRIu64 " iterations of %" PRIu64
                                 " entries: each entry begins an iteration",
                                 loop->iterations, loop->entries);
    if (loop->instructions > all)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_LOOP, where,
                                 "%" PRIu64 " instructions, the program has %" PRIu64,
                                 loop->instructions, all);
    judge_verdict(judge, where, loop);
}

/* --- rows --------------------------------------------------------------------------------------
 */

static void judge_distances(struct dependences_judge *judge, const char *where,
                            const struct dependences_read_row *read)
{
    const struct dependence *row = &read->row;
    const double mean = dependence_mean(row);
    if (row->least == 0 || row->least > row->greatest)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_DISTANCE, where,
                                 "least distance %" PRIu64 ", greatest %" PRIu64, row->least,
                                 row->greatest);
    else if (row->sum < saturating_multiply(row->least, row->count) ||
             row->sum > saturating_multiply(row->greatest, row->count))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_DISTANCE, where,
                                 "the sum of %" PRIu64 " distances from %" PRIu64 " to %" PRIu64
                                 " is %" PRIu64,
                                 row->count, row->least, row->greatest, row->sum);
    if (!(fabs(read->mean - mean) <= MEAN_ERROR * mean))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_DISTANCE, where,
                                 "mean distance %.6g, sum / count is %.6g", read->mean, mean);
}

static void judge_carried(struct dependences_judge *judge, const char *where,
                          const struct dependences_read_row *read)
{
    const struct dependence *row = &read->row;
    const unsigned wanted = row->carried ? 5 : 0;
    if (row->carried && row->loop == DEPENDENCES_NONE)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_CARRIED, where,
                                 "carried by no loop");
    if (read->distances != wanted)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_CARRIED, where,
                                 "%u of 5 values of distances; a row that is %s has %u",
                                 read->distances, row->carried ? "carried" : "not carried", wanted);
    if (row->carried && read->distances == wanted)
        judge_distances(judge, where, read);
}

static void judge_row(struct dependences_judge *judge, const char *where,
                      const struct dependences_read_row *read)
{
    const struct dependence *row = &read->row;
    if (row->count == 0)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_COUNT, where, "the count is 0");
    if (!(judge->kinds >> row->kind & 1))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_KIND, where,
                                 "kind %s was not traced", dependence_kind_names[row->kind]);
    if (row->count > judge->last_count)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_ORDER, where,
                                 "count %" PRIu64 " after count %" PRIu64, row->count,
                                 judge->last_count);
    if (row->loop != DEPENDENCES_NONE && row->sink_thread != row->source_thread)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_THREAD, where,
                                 "a loop of threads %" PRIu32 " and %" PRIu32, row->sink_thread,
                                 row->source_thread);
    judge_carried(judge, where, read);
}

int dependences_judge_row(struct dependences_judge *judge, const char *where,
                          const struct dependences_read_row *read, struct bt_error *error)
{
    const size_t before = judge->dependences->row_count;
    judge_row(judge, where, read);
    judge->last_count = read->row.count;
    int result = dependences_add(judge->dependences, &read->row, error);
    if (result == 0 && judge->dependences->row_count == before)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_TWICE, where,
                                 "another row differs in counts and distances only");
    return result;
}

void dependences_judge_totals(struct dependences_judge *judge)
{
    const struct dependences *dependences = judge->dependences;
    const struct dependences_totals *totals = &dependences->totals;
    uint64_t count = 0;
    for (size_t i = 0; i < dependences->row_count; i++)
        count = saturating_add(count, dependences->rows[i].count);
    if (totals->writes > totals->references)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_TOTALS, "",
                                 "%" PRIu64 " writes of %" PRIu64 " references", totals->writes,
                                 totals->references);
    if (dependences->row_count > totals->rows)
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_TOTALS, "",
                                 "%zu rows, dependences_total is %" PRIu64, dependences->row_count,
                                 totals->rows);
    if (count > totals->count || (dependences->row_count == totals->rows && count < totals->count))
        dependences_failures_add(judge->failures, DEPENDENCES_RULE_TOTALS, "",
                                 "the counts of %zu rows add up to %" PRIu64
                                 ", count_total is %" PRIu64,
                                 dependences->row_count, count, totals->count);
}
