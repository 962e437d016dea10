#include "capture/depend/depend_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIBED_BYTES 120u /* a longer name is cut */
#define REASON_BYTES    (2 * DESCRIBED_BYTES + 80u)

/* The numbers of the engine's places and loops in the result. */
struct reporting {
    const struct depend_report *report;
    const struct depend *depend;
    struct dependences *to;
    uint32_t *loops; /* DEPENDENCES_NONE: not there yet */
    size_t loop_count;
};

static int add_place(const struct reporting *reporting, uint32_t place, uint32_t *number,
                     struct bt_error *error)
{
    *number = DEPENDENCES_NONE;
    if (place == DEPEND_NONE)
        return 0;
    const struct dependence_place described =
        reporting->report->place(reporting->report->context, place);
    return dependences_add_place(reporting->to, &described, number, error);
}

/* The number of a loop, which is added if it is new. */
static int add_loop(struct reporting *reporting, uint32_t loop, uint32_t *number,
                    struct bt_error *error)
{
    *number = DEPENDENCES_NONE;
    if (loop >= reporting->loop_count)
        return 0;
    *number = reporting->loops[loop];
    if (*number != DEPENDENCES_NONE)
        return 0;
    const struct depend_report *report = reporting->report;
    const struct depend_loop counts = depend_loop(reporting->depend, loop);
    struct dependence_loop added = {.entries = counts.invocations,
                                    .iterations = counts.iterations,
                                    .instructions = counts.instructions};
    int result = add_place(reporting, report->head(report->context, loop), &added.place, error);
    if (result == 0)
        result = dependences_add_loop(reporting->to, &added, number, error);
    reporting->loops[loop] = *number;
    return result;
}

static bool is_hidden(const struct reporting *reporting, const struct depend_pair *pair)
{
    const struct depend_report *report = reporting->report;
    return report->is_hidden && report->is_hidden(report->context, pair);
}

static int add_pair(struct reporting *reporting, const struct depend_pair *pair,
                    struct bt_error *error)
{
    const struct depend_context *sink = depend_context(reporting->depend, pair->sink);
    const struct depend_context *source = depend_context(reporting->depend, pair->source);
    struct dependence row = {.kind = (enum dependence_kind)pair->kind,
                             .carried = pair->carried,
                             .at_least = pair->at_least,
                             .sink_thread = sink->thread,
                             .source_thread = source->thread,
                             .count = pair->count,
                             .least = pair->carried ? pair->least : 0,
                             .greatest = pair->carried ? pair->greatest : 0,
                             .sum = pair->carried ? pair->sum : 0};
    int result = add_place(reporting, sink->place, &row.sink, error);
    if (result == 0)
        result = add_place(reporting, source->place, &row.source, error);
    if (result == 0)
        result = add_place(reporting, sink->top, &row.top_sink, error);
    if (result == 0)
        result = add_place(reporting, source->top, &row.top_source, error);
    if (result == 0)
        result = add_loop(reporting, pair->loop, &row.loop, error);
    return result == 0 ? dependences_add(reporting->to, &row, error) : result;
}

/* --- verdicts ----------------------------------------------------------------------------------
 */

/* What a loop carries. */
struct judgement {
    struct reporting *reporting;
    uint32_t number; /* of the loop in the result */
    unsigned carried;
    bool is_reduction, is_serial, has_last;
    const struct depend_pair *reduced;             /* a reduction in memory */
    const struct depend_pair *worst[DEPEND_KINDS]; /* real ones: of the least distance, then of the
                                                      greatest count */
};

static bool is_worse(const struct depend_pair *pair, const struct depend_pair *than)
{
    return !than || pair->least < than->least ||
           (pair->least == than->least && pair->count > than->count);
}

void depend_report_describe(const struct dependence_place *place, const char *own, char *text,
                            size_t size)
{
    if (place->line > 0 && own && place->file && strcmp(own, place->file) != 0)
        snprintf(text, size, "%s:%" PRIu32, dependences_file_name(place->file), place->line);
    else if (place->line > 0)
        snprintf(text, size, "line %" PRIu32, place->line);
    else
        snprintf(text, size, "%s 0x%" PRIx64, place->function ? place->function : "instruction",
                 place->offset != DEPENDENCES_UNKNOWN ? place->offset : place->address);
}

/* The place of a context, in words. */
static void describe(const struct reporting *reporting, const char *own, uint32_t context,
                     char *text, size_t size)
{
    const struct depend_report *report = reporting->report;
    const struct dependence_place place =
        report->place(report->context, depend_context(reporting->depend, context)->place);
    depend_report_describe(&place, own, text, size);
}

static int explain(const struct judgement *judgement, const struct depend_pair *pair,
                   struct bt_error *error)
{
    static const char *const verbs[DEPEND_KINDS][2] = {
        {"reads", "wrote"}, {"writes", "read"}, {"writes", "wrote"}};
    char sink[DESCRIBED_BYTES], source[DESCRIBED_BYTES], text[REASON_BYTES];
    const struct depend_report *report = judgement->reporting->report;
    const char *own =
        report->place(report->context, report->head(report->context, pair->loop)).file;
    describe(judgement->reporting, own, pair->sink, sink, sizeof sink);
    describe(judgement->reporting, own, pair->source, source, sizeof source);
    snprintf(text, sizeof text,
             "%s %s what %s %s %" PRIu64 " iteration%s before (%" PRIu64 " times)", sink,
             verbs[pair->kind][0], source, verbs[pair->kind][1], pair->least,
             pair->least == 1 ? "" : "s", pair->count);
    return dependences_add_reason(judgement->reporting->to, judgement->number, text, error);
}

/* Names a place that updates memory. */
static int explain_reduction(const struct judgement *judgement, struct bt_error *error)
{
    const struct depend_report *report = judgement->reporting->report;
    const struct depend_pair *pair = judgement->reduced;
    const char *own =
        report->place(report->context, report->head(report->context, pair->loop)).file;
    char sink[DESCRIBED_BYTES], text[REASON_BYTES];
    describe(judgement->reporting, own, pair->sink, sink, sizeof sink);
    snprintf(text, sizeof text, "%s updates memory by one operation only (%" PRIu64 " times)", sink,
             pair->count);
    return dependences_add_reason(judgement->reporting->to, judgement->number, text, error);
}

/* A verdict is about the iterations that were seen. */
static int count_iterations(struct judgement *judgement, struct bt_error *error)
{
    const struct dependence_loop *loop = &judgement->reporting->to->loops[judgement->number];
    char text[REASON_BYTES];
    int result = 0;
    if (loop->iterations == loop->entries) {
        judgement->is_serial = true; /* nothing is known of what it carries in memory */
        result = dependences_add_reason(judgement->reporting->to, judgement->number,
                                        "no entry had a second iteration", error);
    }
    snprintf(text, sizeof text, "at least %" PRIu64 " iteration%s seen", loop->iterations,
             loop->iterations == 1 ? " was" : "s were");
    return result == 0
               ? dependences_add_reason(judgement->reporting->to, judgement->number, text, error)
               : result;
}

static int add_value(void *to, enum depend_value value, const char *reason, struct bt_error *error)
{
    struct judgement *judgement = to;
    judgement->is_reduction |= value == DEPEND_VALUE_REDUCTION;
    judgement->is_serial |= value == DEPEND_VALUE_SERIAL;
    judgement->has_last |= value == DEPEND_VALUE_LAST;
    return dependences_add_reason(judgement->reporting->to, judgement->number, reason, error);
}

static void judge_pair(struct judgement *judgement, const struct depend_pair *pair)
{
    const struct depend_report *report = judgement->reporting->report;
    const enum depend_carry carry =
        report->carry ? report->carry(report->context, pair) : DEPEND_CARRY_REAL;
    if (carry == DEPEND_CARRY_NONE)
        return;
    if (carry == DEPEND_CARRY_REDUCTION) {
        judgement->is_reduction = true;
        if (!judgement->reduced || pair->kind < judgement->reduced->kind)
            judgement->reduced = pair;
        if (pair->kind == DEPEND_RAW)
            judgement->carried |= 1u << DEPEND_RAW;
        return;
    }
    judgement->is_serial |= carry == DEPEND_CARRY_SERIAL;
    judgement->carried |= 1u << pair->kind;
    if (is_worse(pair, judgement->worst[pair->kind]))
        judgement->worst[pair->kind] = pair;
}

static enum dependence_verdict verdict_of(const struct judgement *judgement)
{
    const struct depend_pair *read = judgement->worst[DEPEND_RAW];
    if (judgement->is_serial || (read && read->least < 2))
        return DEPENDENCE_SERIAL;
    if (read)
        return DEPENDENCE_DISTANCE;
    if (judgement->is_reduction)
        return DEPENDENCE_REDUCTION;
    return judgement->carried || judgement->has_last ? DEPENDENCE_PRIVATIZABLE
                                                     : DEPENDENCE_INDEPENDENT;
}

/* by_loop: pairs of this loop, a list through `next`, ended by DEPEND_NONE. */
static int judge_loop(struct reporting *reporting, uint32_t loop, const uint32_t *first,
                      const uint32_t *next, struct bt_error *error)
{
    const struct depend_report *report = reporting->report;
    struct judgement judgement = {.reporting = reporting};
    int result = add_loop(reporting, loop, &judgement.number, error);
    for (uint32_t i = first[loop]; i != DEPEND_NONE; i = next[i])
        judge_pair(&judgement, depend_pair(reporting->depend, i));
    if (result == 0 && report->values)
        result = report->values(report->context, loop, add_value, &judgement, error);
    for (unsigned kind = 0; kind < DEPEND_KINDS && result == 0; kind++)
        if (judgement.worst[kind])
            result = explain(&judgement, judgement.worst[kind], error);
    if (result == 0 && judgement.reduced)
        result = explain_reduction(&judgement, error);
    if (result == 0)
        result = count_iterations(&judgement, error);
    if (result < 0)
        return result;
    struct dependence_loop *judged = &reporting->to->loops[judgement.number];
    judged->verdict = verdict_of(&judgement);
    judged->carried = judgement.carried;
    judged->distance =
        judged->verdict == DEPENDENCE_DISTANCE ? judgement.worst[DEPEND_RAW]->least : 0;
    return 0;
}

static bool is_judged(const struct reporting *reporting, uint32_t loop)
{
    const struct depend_report *report = reporting->report;
    const struct depend_loop counts = depend_loop(reporting->depend, loop);
    return counts.invocations > 0 && counts.instructions >= report->judged_from &&
           (!report->is_judged || report->is_judged(report->context, loop));
}

static int judge(struct reporting *reporting, struct bt_error *error)
{
    const struct depend *depend = reporting->depend;
    const size_t pairs = depend_pair_count(depend);
    uint32_t *first = malloc((reporting->loop_count + 1) * sizeof *first);
    uint32_t *next = malloc((pairs + 1) * sizeof *next);
    int result = first && next ? 0 : bt_fail(error, BT_MEMORY, "no memory for verdicts");
    for (size_t i = 0; i < reporting->loop_count && result == 0; i++)
        first[i] = DEPEND_NONE;
    for (size_t i = pairs; i-- > 0 && result == 0;) {
        const struct depend_pair *pair = depend_pair(depend, i);
        if (!pair->carried || pair->loop >= reporting->loop_count || is_hidden(reporting, pair))
            continue;
        next[i] = first[pair->loop];
        first[pair->loop] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < reporting->loop_count && result == 0; i++) {
        if (is_judged(reporting, i))
            result = judge_loop(reporting, i, first, next, error);
    }
    free(first);
    free(next);
    return result;
}

int depend_report_add(const struct depend_report *report, const struct depend *depend,
                      struct dependences *to, struct bt_error *error)
{
    struct reporting reporting = {
        .report = report, .depend = depend, .to = to, .loop_count = depend->loop_count};
    reporting.loops = malloc((reporting.loop_count + 1) * sizeof *reporting.loops);
    if (!reporting.loops)
        return bt_fail(error, BT_MEMORY, "no memory for the report");
    for (size_t i = 0; i < reporting.loop_count; i++)
        reporting.loops[i] = DEPENDENCES_NONE;
    int result = 0;
    for (size_t i = 0; i < depend_pair_count(depend) && result == 0; i++) {
        const struct depend_pair *pair = depend_pair(depend, i);
        if (!is_hidden(&reporting, pair))
            result = add_pair(&reporting, pair, error);
    }
    if (result == 0)
        result = judge(&reporting, error);
    free(reporting.loops);
    return result;
}
