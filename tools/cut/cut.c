#include "tools/cut/cut.h"

#include "formats/base/saturating.h"
#include "formats/record/batch_filter.h"
#include "tools/cut/cut_range.h"
#include "tools/cut/stored_trace.h"
#include "tools/symbols/filter_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records read at a time where there are no members: they fit the L2 cache. */
#define BATCH_RECORDS 16384u

struct cut {
    const struct cut_settings *settings;
    struct stored_trace *trace;
    struct cut_range range;
    struct expression *expression; /* NULL: every record */
    struct batch_filter filter;
    struct derived_writer *writer;
    struct batch batch;
    uint64_t first_index; /* of the part */
    bool begun;           /* first_index is known */
    bool whole;           /* all of the member is wanted whose records are read */
    bool ended;           /* the trace ended before the part did */
};

/* --- what is copied -------------------------------------------------------------------------- */

/* Removes what does not match. An event belongs to its record. */
static int apply_filter(struct cut *cut, struct batch *batch, struct bt_error *error)
{
    if (batch->event != EVENT_NONE &&
        !expression_match(cut->expression, batch->records, batch->first_index, batch->first_tick))
        batch->event = EVENT_NONE;
    return batch_filter_put(&cut->filter, batch, error);
}

static int put(struct cut *cut, struct batch *batch, struct bt_error *error)
{
    if (batch->count == 0 && !batch_has_loss_or_gap(batch))
        return 0;
    if (!cut->begun)
        cut->first_index = batch->first_index - loss_total(&batch->lost);
    cut->begun = true;
    if (!cut->expression)
        return derived_writer_put(cut->writer, batch, error);
    int result = apply_filter(cut, batch, error);
    if (result == 0)
        result = derived_writer_put(cut->writer, batch, error);
    while (result == 0 && batch_filter_more(&cut->filter, batch))
        result = derived_writer_put(cut->writer, batch, error);
    return result;
}

/* Reads the records that come next, all of which are wanted. 1; 0 if there were none, or a negative
 * code. */
static int read_whole(struct cut *cut, struct bt_error *error)
{
    struct batch batch = cut->batch;
    int result = stored_trace_next(cut->trace, &batch, error);
    if (result == 1 && put(cut, &batch, error) < 0)
        return error->code;
    return result;
}

/* Reads records and keeps those that are wanted. capacity: of a batch. */
static int read_part(struct cut *cut, size_t capacity, struct bt_error *error)
{
    struct batch batch = cut->batch;
    batch.capacity = capacity;
    int result = stored_trace_next(cut->trace, &batch, error);
    if (result != 1)
        return result;
    switch (cut_range_judge(&cut->range, &batch)) {
    case CUT_PASSED:
        return 0;
    case CUT_PAST:
        cut->range.left = 0;
        return 0;
    case CUT_PART:
        cut_range_trim(&cut->range, &batch);
        break;
    case CUT_WHOLE:
        break;
    }
    return put(cut, &batch, error);
}

/* Reads the records of a member that is wanted. */
static int read_member(struct cut *cut, const struct batch *description, struct bt_error *error)
{
    cut->whole = true;
    int result = read_whole(cut, error);
    if (result == 0 && cut->range.left < UINT64_MAX)
        cut->range.left += description->count; /* it is damaged */
    return result;
}

/* Copies a member as it is stored, or reads it if it is damaged. */
static int copy_member(struct cut *cut, const struct batch *description, struct bt_error *error)
{
    struct stored_member member;
    int result = stored_trace_take(cut->trace, &member, error);
    if (result == 2)
        return read_member(cut, description, error);
    if (result == 0 && cut->range.left < UINT64_MAX)
        cut->range.left += description->count;
    if (result != 1)
        return result;
    return derived_writer_copy(cut->writer, description, member.bytes, member.size, member.restated,
                               error);
}

/* Does with a described member what its position demands. 0 or a negative code. */
static int take_member(struct cut *cut, struct batch *description, struct bt_error *error)
{
    cut->whole = false;
    switch (cut_range_judge(&cut->range, description)) {
    case CUT_PASSED:
        return stored_trace_pass(cut->trace, error);
    case CUT_WHOLE:
        return cut->expression ||
                       stored_trace_version(cut->trace) != derived_writer_version(cut->writer)
                   ? read_member(cut, description, error)
                   : copy_member(cut, description, error);
    case CUT_PART:
        return read_part(cut, STORED_RECORDS_MAX, error);
    case CUT_PAST:
        break;
    }
    const bool lost = cut_range_trim_past(&cut->range, description, stored_trace_tick(cut->trace));
    cut->range.left = 0;
    return lost ? put(cut, description, error) : 0;
}

/* Whether something may be wanted of what comes next. */
static bool is_open(const struct cut *cut)
{
    return cut->range.left > 0 || (cut->whole && stored_trace_in_member(cut->trace));
}

static int copy_all(struct cut *cut, struct bt_error *error)
{
    int result = 0;
    while (result >= 0 && is_open(cut)) {
        struct batch description;
        result = stored_trace_peek(cut->trace, &description, error);
        if (result == STORED_END) {
            cut->ended = true;
            return 0;
        }
        if (result == STORED_MEMBER)
            result = take_member(cut, &description, error);
        else if (result == STORED_RECORDS)
            result = cut->whole ? read_whole(cut, error) : read_part(cut, BATCH_RECORDS, error);
    }
    return result < 0 ? result : 0;
}

/* --- header and closing member --------------------------------------------------------------- */

/* Adds the cut's filter to that of the capture. Text that is too long ends with "...". */
static void add_filter(struct capture_info *info, const char *filter)
{
    const struct capture_info was = *info;
    size_t size = sizeof info->filter;
    if (!filter)
        return;
    int length = was.filter[0] ? snprintf(info->filter, size, "(%s) and (%s)", was.filter, filter)
                               : snprintf(info->filter, size, "%s", filter);
    if (length >= (int)size)
        strcpy(info->filter + size - 4, "...");
}

/* Requests that an earlier cut of the same records has excluded. Of a part it is not known how many
 * of them were in it. */
static uint64_t excluded_before(const struct cut *cut)
{
    const struct record_input_settings *input = &cut->settings->input;
    const struct capture_totals *closing = stored_trace_closing(cut->trace);
    const bool all =
        cut->ended && !input->time.given && input->first == 0 && input->count == UINT64_MAX;
    return all && closing && closing->source.known && stored_trace_info(cut->trace)->derived
               ? closing->source.filtered
               : 0;
}

static int end(struct cut *cut, struct bt_error *error)
{
    const struct loss *after = stored_trace_lost_after(cut->trace);
    struct capture_totals totals = {.end = cut->ended ? CAPTURE_END_SOURCE : CAPTURE_END_LIMIT,
                                    .end_index = cut->begun ? cut->first_index
                                                            : stored_trace_index(cut->trace),
                                    .last_tick = after->last_tick};
    totals.source.filtered = saturating_add(cut->filter.removed, excluded_before(cut));
    totals.source.known =
        stored_trace_tells_losses(cut->trace, cut->ended, totals.message, sizeof totals.message);
    if (cut->ended && cut_range_has_end(&cut->range, after->last_tick))
        memcpy(totals.file_lost, after->count, sizeof totals.file_lost);
    return derived_writer_close(cut->writer, &totals, error);
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Opens the trace and finds the ticks of the part. */
static int open_trace(struct cut *cut, int count, char **paths, struct bt_error *error)
{
    const struct record_input_settings *input = &cut->settings->input;
    const struct stored_trace_settings reading = {
        .trace = input->trace, .keep_parts = !input->filter, .report = cut->settings->report};
    cut->trace = stored_trace_open(count, paths, &reading, error);
    if (!cut->trace)
        return error->code;
    const uint64_t clock_hz = stored_trace_info(cut->trace)->clock_hz;
    struct record_selection *selection = record_selection_new(NULL, &input->time, error);
    int result = selection ? record_selection_clock(selection, clock_hz, error) : error->code;
    if (result == 0)
        cut->range = (struct cut_range){.first_tick = record_selection_first_tick(selection),
                                        .last_tick = record_selection_last_tick(selection),
                                        .skip = input->first,
                                        .left = input->count};
    record_selection_free(selection);
    const struct module_captures captures = {paths, count};
    if (result == 0 && input->filter)
        result = filter_symbols_parse(&cut->expression, input->filter, &input->modules, &captures,
                                      false, error);
    if (result == 0 && cut->expression)
        result = expression_clock(cut->expression, clock_hz, error);
    cut->filter.expression = cut->expression;
    return result;
}

static int run(struct cut *cut, int fd, const char *name, struct bt_error *error)
{
    struct capture_info info = *stored_trace_info(cut->trace);
    add_filter(&info, cut->settings->input.filter);
    cut->batch.capacity = STORED_RECORDS_MAX;
    cut->batch.records = malloc(cut->batch.capacity * sizeof(struct record));
    if (!cut->batch.records)
        return bt_fail(error, BT_MEMORY, "no memory for a block of records");
    cut->writer = derived_writer_new(fd, name, &info, error);
    int result = cut->writer ? copy_all(cut, error) : error->code;
    return result == 0 ? end(cut, error) : result;
}

int cut_run(struct derived_counts *counts, int fd, const char *name, int count, char **paths,
            const struct cut_settings *settings, struct bt_error *error)
{
    struct cut cut = {.settings = settings};
    int status = open_trace(&cut, count, paths, error);
    if (status == 0)
        status = run(&cut, fd, name, error);
    if (status == 0)
        *counts = *derived_writer_counts(cut.writer);
    derived_writer_free(cut.writer);
    stored_trace_free(cut.trace);
    batch_filter_clear(&cut.filter);
    expression_free(cut.expression);
    free(cut.batch.records);
    return status;
}
