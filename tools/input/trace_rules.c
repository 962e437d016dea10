#include "tools/input/trace_rules.h"

#include "formats/capture/member_ticks.h"

#include <inttypes.h>
#include <string.h>

/* Sums n counts. False if the sum overflows 64 bits. */
static bool add_up(const uint64_t *counts, size_t n, uint64_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(*sum, counts[i], sum))
            return false;
    return true;
}

int trace_rules_header(struct trace_file *file, struct bt_error *error)
{
    const struct capture_info *info = &file->info;
    file->order.known = info->file_number == 1;
    if (info->file_number == 0)
        return bt_fail(error, BT_DATA, "the header says file 0; the first file of a capture is 1");
    if (info->derived && info->file_number != 1)
        return bt_fail(error, BT_DATA,
                       "the header of a derived capture says file %" PRIu32 ", not 1",
                       info->file_number);
    if (info->file_number == 1 && info->first_index != 0 && !info->derived)
        return bt_fail(error, BT_DATA,
                       "the first file of the capture begins with request %" PRIu64 ", not 0",
                       info->first_index);
    return 0;
}

/* --- data members ---------------------------------------------------------------------------- */

static int check_indices(const struct batch *batch, uint64_t *lost, struct bt_error *error)
{
    if (!add_up(batch->lost.count, LOSS_STAGES, lost) || *lost > batch->first_index)
        return bt_fail(error, BT_DATA,
                       "the block counts more requests lost before its first index, %" PRIu64
                       ", than there were",
                       batch->first_index);
    if (batch->first_index > UINT64_MAX - batch->count)
        return bt_fail(error, BT_DATA,
                       "the indices of the block's %zu records, from %" PRIu64
                       " on, overflow 64 bits",
                       batch->count, batch->first_index);
    return 0;
}

/* Compares a block's first tick with the last tick of the previous block. */
static int check_begin(const struct trace_order *before, uint64_t first_tick, bool timed,
                       uint32_t time, struct bt_error *error)
{
    const struct member_ticks ticks = {
        .known = before->data, .exact = before->exact, .tick = before->tick};
    return member_ticks_follow(&ticks, first_tick, timed, time, error);
}

/* Compares the interval of a loss with the ticks around it. */
static int check_loss(const struct trace_order *before, const struct batch *batch,
                      struct bt_error *error)
{
    uint64_t first = batch->lost.first_tick;
    uint64_t last = batch->lost.last_tick;
    if (last < first)
        return bt_fail(error, BT_DATA,
                       "the last request lost is at tick %" PRIu64 ", before the first at %" PRIu64,
                       last, first);
    if (before->data && first < before->tick)
        return bt_fail(error, BT_DATA,
                       "requests are lost from tick %" PRIu64
                       " on; the block before ends at tick %" PRIu64,
                       first, before->tick);
    if (batch->count > 0 && last > batch->first_tick)
        return bt_fail(error, BT_DATA,
                       "requests are lost up to tick %" PRIu64
                       "; the block after them begins at tick %" PRIu64,
                       last, batch->first_tick);
    return 0;
}

static void advance(struct trace_order *order, const struct batch *batch, bool lost, bool timed)
{
    if (!order->data) {
        order->first_tick = batch->first_tick;
        order->lost = lost;
        order->lost_tick = batch->lost.first_tick;
        order->timed = timed;
        order->first_time = timed ? batch->records[0].time : 0;
    }
    order->data = order->known = true;
    order->exact = batch->count > 0;
    order->tick = batch->last_tick;
}

int trace_rules_data(struct trace_file *file, const struct batch *batch, bool torn,
                     struct bt_error *error)
{
    struct trace_order *order = &file->order;
    uint64_t lost = 0;
    bool timed =
        batch->count > 0 && loss_total(&batch->lost) == 0 && batch->gap.milliseconds == 0 && !torn;
    int result = check_indices(batch, &lost, error);
    if (result == 0 && (batch->gap.chosen || batch->parts > 0) &&
        strcmp(file->info.bus, CAPTURE_BUS_PROGRAM) != 0)
        result = bt_fail(error, BT_DATA,
                         "the block reports a chosen gap, which only captures of programs have");
    if (result == 0 && batch->events && strcmp(file->info.bus, CAPTURE_BUS_PROGRAM) != 0)
        result = bt_fail(error, BT_DATA,
                         "the block reports signals or threads, which only captures of programs "
                         "have");
    if (result == 0)
        result = member_ticks_within(batch, error);
    if (result == 0)
        result =
            check_begin(order, batch->first_tick, timed, timed ? batch->records[0].time : 0, error);
    if (result == 0 && lost > 0)
        result = check_loss(order, batch, error);
    advance(order, batch, lost > 0, timed);
    return result;
}

/* --- closing members ------------------------------------------------------------------------- */

/* Whether the member counts the whole capture so far: that of a recovered file that was cut off
 * does not. */
static bool knows_capture(const struct capture_totals *totals)
{
    return totals->end != CAPTURE_END_RECOVERED || totals->final;
}

/* Compares the last tick with that of the last data member so far. */
static int check_last_tick(const struct capture_totals *totals, uint64_t tick, bool lost_after,
                           struct bt_error *error)
{
    if (!knows_capture(totals) || totals->last_tick == tick ||
        (lost_after && totals->last_tick > tick))
        return 0;
    return bt_fail(error, BT_DATA,
                   "the closing block's last tick is %" PRIu64
                   "; the last block ends at tick %" PRIu64,
                   totals->last_tick, tick);
}

/* Compares the closing member's counts of the file with the data members. */
static int check_file(const struct trace_file *file, struct bt_error *error)
{
    const struct capture_totals *totals = &file->totals;
    uint64_t after = 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t counted = file->lost.count[stage];
        if (totals->file_lost[stage] < counted)
            return bt_fail(error, BT_DATA,
                           "the closing block counts %" PRIu64
                           " requests lost (%s); the blocks count %" PRIu64,
                           totals->file_lost[stage], loss_stage_name((enum loss_stage)stage),
                           counted);
        if (__builtin_add_overflow(after, totals->file_lost[stage] - counted, &after))
            return bt_fail(error, BT_DATA, "the losses of the closing block overflow 64 bits");
    }
    if (totals->end_index < file->end_index || totals->end_index - file->end_index != after)
        return bt_fail(error, BT_DATA,
                       "the closing block ends at request %" PRIu64 "; the blocks end at request "
                       "%" PRIu64 ", with %" PRIu64 " more lost",
                       totals->end_index, file->end_index, after);
    return file->order.known ? check_last_tick(totals, file->order.tick, after > 0, error) : 0;
}

/* Compares the closing member's counts of the capture with each other. */
static int check_capture(const struct trace_file *file, struct bt_error *error)
{
    const struct capture_totals *totals = &file->totals;
    uint64_t lost, requests;
    const uint64_t before_file = file->info.derived ? file->info.first_index : 0;
    if (!knows_capture(totals))
        return 0;
    if (!add_up(totals->capture_lost, LOSS_STAGES, &lost) ||
        __builtin_add_overflow(totals->capture_records, lost, &requests) ||
        totals->end_index < before_file || requests != totals->end_index - before_file)
        return bt_fail(error, BT_DATA,
                       "the closing block's records and losses of the capture do not add up to "
                       "its end index, %" PRIu64 "%s",
                       totals->end_index, before_file > 0 ? ", less the first index" : "");
    uint64_t before = totals->capture_records - totals->file_records;
    bool less = totals->capture_records < totals->file_records;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        less = less || totals->capture_lost[stage] < totals->file_lost[stage];
        before |= totals->capture_lost[stage] - totals->file_lost[stage];
    }
    if (less || (file->info.file_number == 1 && before > 0))
        return bt_fail(
            error, BT_DATA, "the closing block counts %s in the capture than in this file%s",
            less ? "fewer" : "more", less ? "" : ", and this file is the capture's first");
    return 0;
}

/* Checks the board's counts, which only the final closing member has. */
static int check_source(const struct capture_totals *totals, struct bt_error *error)
{
    const struct source_totals *source = &totals->source;
    const uint64_t parts[] = {source->accepted, source->filtered, source->above_4gib,
                              source->undecoded};
    uint64_t sum;
    if (!totals->final || !source->known)
        return 0;
    if (!add_up(parts, sizeof parts / sizeof *parts, &sum) || sum != source->seen)
        return bt_fail(error, BT_DATA,
                       "the board saw %" PRIu64
                       " requests; its counts of what became of them do not add up to that",
                       source->seen);
    if (source->lost_bus > source->accepted || source->lost_bus < totals->capture_lost[LOSS_BUS])
        return bt_fail(error, BT_DATA,
                       "the board counted %" PRIu64 " requests lost, %" PRIu64
                       " accepted; the capture counts %" PRIu64 " that the board lost",
                       source->lost_bus, source->accepted, totals->capture_lost[LOSS_BUS]);
    return 0;
}

int trace_rules_closing(struct trace_file *file, bool torn, struct bt_error *error)
{
    const struct capture_totals *totals = &file->totals;
    int result = 0;
    if (totals->final && totals->end == CAPTURE_END_ROTATED)
        result = bt_fail(error, BT_DATA,
                         "the closing block says that the file is the last and that it is not");
    if (!totals->final && totals->end > CAPTURE_END_ROTATED && totals->end < CAPTURE_END_RECOVERED)
        result = bt_fail(error, BT_DATA,
                         "the closing block ends the capture (%s) and says that the file is not "
                         "the last",
                         capture_end_name(totals->end));
    if (result == 0 && !torn)
        result = check_file(file, error);
    if (result == 0 && !torn)
        result = check_capture(file, error);
    if (result == 0)
        result = check_source(totals, error);
    file->order.lost_after = totals->end_index != file->end_index;
    file->order.exact = file->order.exact && !file->order.lost_after;
    return result;
}

/* --- files ----------------------------------------------------------------------------------- */

/* Name of a field that differs but is common to all headers of a capture; NULL: none differs. */
static const char *other_header(const struct capture_info *a, const struct capture_info *b)
{
    return a->clock_hz != b->clock_hz                             ? "clock"
           : a->started_ns != b->started_ns                       ? "start of the capture"
           : a->keep != b->keep                                   ? "number of files kept"
           : strncmp(a->board, b->board, sizeof a->board) != 0    ? "board"
           : strncmp(a->bus, b->bus, sizeof a->bus) != 0          ? "bus"
           : strncmp(a->filter, b->filter, sizeof a->filter) != 0 ? "filter"
                                                                  : NULL;
}

/* Whether next's counts of the capture are file's plus next's counts of its file. True for files
 * that recover wrote: it changes these counts. */
static bool counts_follow(const struct capture_totals *file, const struct capture_totals *next)
{
    if (file->end == CAPTURE_END_RECOVERED || next->end == CAPTURE_END_RECOVERED)
        return true;
    bool follow = next->capture_records - next->file_records == file->capture_records;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        follow = follow &&
                 next->capture_lost[stage] - next->file_lost[stage] == file->capture_lost[stage];
    return follow;
}

int trace_rules_seam(const struct trace_file *file, const struct trace_order *order,
                     const struct trace_file *next, struct bt_error *error)
{
    const struct trace_order *begin = &next->order;
    const char *other = other_header(&file->info, &next->info);
    if (other)
        return bt_fail(error, BT_DATA, "the %s in the header is not that of file %" PRIu32, other,
                       file->info.file_number);
    if (begin->data &&
        check_begin(order, begin->first_tick, begin->timed, begin->first_time, error) < 0)
        return BT_DATA;
    if (begin->lost && order->data && begin->lost_tick != 0 && begin->lost_tick < order->tick)
        return bt_fail(error, BT_DATA,
                       "requests are lost from tick %" PRIu64 " on; file %" PRIu32
                       " ends at tick %" PRIu64,
                       begin->lost_tick, file->info.file_number, order->tick);
    if (next->closed && !begin->data && order->known &&
        check_last_tick(&next->totals, order->tick, begin->lost_after, error) < 0)
        return BT_DATA;
    if (file->closed && next->closed && !counts_follow(&file->totals, &next->totals))
        return bt_fail(error, BT_DATA,
                       "the closing block's counts of the capture do not continue those of "
                       "file %" PRIu32,
                       file->info.file_number);
    return 0;
}

void trace_rules_advance(struct trace_order *order, const struct trace_file *next)
{
    if (next->order.data)
        *order = next->order;
    else
        order->exact = order->exact && !next->order.lost_after;
}
