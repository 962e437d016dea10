#include "tools/cut/stored_trace.h"

#include "formats/capture/capture_file.h"
#include "tools/input/captures.h"
#include "tools/input/record_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct stored_trace {
    struct stored_trace_settings settings;
    struct captures captures;
    struct input_paths operands;
    int next_path; /* index of the path to open next */
    struct input_trace input;
    bool ended; /* the open file is at its end */

    const char *path;          /* of the open file */
    struct capture_info info;  /* of the first file */
    struct captures_seam seam; /* the last header, and its path */
    unsigned headers;          /* number of header members read */
    struct bt_error met;       /* an error of a header; code 0: none */
    struct capture_totals closing;
    bool closed;

    struct capture_member member; /* peeked; batch.lost as stored */
    bool peeked;
    bool restated;       /* the losses of the description are not those of the member */
    struct batch peek;   /* the description */
    uint64_t remaining;  /* of the member's records, not yet read */
    bool placed;         /* the next three are known */
    uint64_t index;      /* after the last record or loss */
    uint64_t tick;       /* of the last record, or the last known one */
    struct loss in_file; /* of the file's members so far */
    struct loss after;   /* of the closing member, not in any member */
};

/* --- headers and closing members ------------------------------------------------------------- */

static int refuse(const struct stored_trace *trace, const char *path, struct bt_error *error)
{
    if (trace->next_path <= 1)
        return bt_fail(error, BT_USAGE,
                       "%.300s holds files of different captures: 'bustap merge' joins captures",
                       record_input_name(path));
    return bt_fail(error, BT_USAGE,
                   "%.200s and %.200s are of different captures: 'bustap merge' joins captures",
                   record_input_name(trace->captures.paths[0]), record_input_name(path));
}

static void take_header(struct stored_trace *trace, const struct capture_info *info)
{
    const struct captures_seam before = trace->seam;
    trace->seam = (struct captures_seam){.path = trace->path, .info = *info};
    if (trace->headers++ == 0 && !trace->placed) {
        trace->index = info->first_index;
        trace->placed = true;
    } else if (!capture_info_same_capture(info, &trace->info)) {
        refuse(trace, trace->path, &trace->met);
    } else {
        captures_check_numbers(&before, &trace->seam, &trace->met);
    }
    trace->in_file = (struct loss){.first_tick = 0};
    trace->closed = false;
}

/* Finds what only the closing member counts as lost. */
static void take_closing(struct stored_trace *trace, const struct capture_totals *totals)
{
    const uint64_t after = loss_total(&trace->after); /* of a file before, without members since */
    uint64_t left = totals->end_index > trace->index ? totals->end_index - trace->index : 0;
    trace->closing = *totals;
    trace->closed = true;
    left -= after < left ? after : left;
    trace->after.first_tick = trace->tick;
    if (after == 0)
        trace->after.last_tick = trace->tick;
    if (totals->last_tick > trace->after.last_tick)
        trace->after.last_tick = totals->last_tick;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        const uint64_t counted = totals->file_lost[stage], known = trace->in_file.count[stage];
        const uint64_t more = counted > known ? counted - known : 0;
        const uint64_t here = more < left ? more : left;
        trace->after.count[stage] += here;
        left -= here;
    }
    trace->after.count[LOSS_DISK] += left;
}

static void member_met(void *context, const struct capture_member *member)
{
    struct stored_trace *trace = context;
    if (member->kind == CAPTURE_MEMBER_HEADER)
        take_header(trace, &member->info);
    else
        take_closing(trace, &member->totals);
}

/* --- files ----------------------------------------------------------------------------------- */

static int open_next(struct stored_trace *trace, struct bt_error *error)
{
    const char *path = trace->captures.paths[trace->next_path];
    input_trace_close(&trace->input);
    int result = input_trace_open(&trace->input, path, &trace->settings.trace, error);
    if (result < 0)
        return result;
    const struct capture_info *info = source_info(trace->input.source);
    if (trace->next_path++ == 0)
        trace->info = *info;
    else if (!capture_info_same_capture(info, &trace->info))
        return refuse(trace, path, error);
    trace->path = path;
    trace->ended = false;
    if (!trace->input.reader)
        return 0;
    trace_reader_watch(trace->input.reader, member_met, trace);
    if (trace->settings.keep_parts)
        trace_reader_keep_parts(trace->input.reader);
    return 0;
}

struct stored_trace *stored_trace_open(int count, char **paths,
                                       const struct stored_trace_settings *settings,
                                       struct bt_error *error)
{
    struct stored_trace *trace = calloc(1, sizeof *trace);
    const struct captures_settings order = {.concatenate = true, .distinct = true};
    if (!trace) {
        bt_fail(error, BT_MEMORY, "no memory for the input");
        return NULL;
    }
    trace->settings = *settings;
    input_paths_take(&trace->operands, count, paths);
    if (input_trace_check(&settings->trace, error) == 0 &&
        captures_order(&trace->captures, trace->operands.count, trace->operands.paths, &order,
                       error) == 0 &&
        open_next(trace, error) == 0)
        return trace;
    stored_trace_free(trace);
    return NULL;
}

void stored_trace_free(struct stored_trace *trace)
{
    if (!trace)
        return;
    input_trace_close(&trace->input);
    captures_free(&trace->captures);
    free(trace);
}

/* --- positions ------------------------------------------------------------------------------- */

/* Adds the requests missing before the batch to its losses. False: it repeats earlier ones. */
static bool place(struct stored_trace *trace, struct batch *batch)
{
    const uint64_t lost = loss_total(&batch->lost);
    const uint64_t start = batch->first_index - lost;
    trace->restated = false;
    if (!trace->placed) {
        trace->index = start;
        trace->placed = true;
    }
    if (lost > batch->first_index || start < trace->index)
        return false;
    if (start == trace->index)
        return true;
    uint64_t left = start - trace->index;
    struct loss hole = {.first_tick = trace->tick};
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        const uint64_t known = trace->after.count[stage];
        hole.count[stage] = known < left ? known : left;
        left -= hole.count[stage];
    }
    hole.count[LOSS_DISK] += left;
    hole.last_tick = lost > 0 ? batch->lost.first_tick : batch->first_tick;
    if (hole.last_tick < hole.first_tick)
        hole.last_tick = hole.first_tick;
    loss_add(&batch->lost, &hole);
    trace->restated = true;
    return true;
}

/* The batch counts as read. */
static void advance(struct stored_trace *trace, const struct batch *batch)
{
    trace->index = batch->first_index + batch->count;
    trace->tick = batch->last_tick;
    trace->after = (struct loss){.first_tick = 0};
}

/* The member just described counts as read. */
static void advance_member(struct stored_trace *trace)
{
    loss_add(&trace->in_file, &trace->member.batch.lost);
    advance(trace, &trace->member.batch);
    trace->peeked = false;
}

/* --- reading --------------------------------------------------------------------------------- */

/* Whether the open file, which has been read, has no bytes. */
static bool is_empty(const struct input_trace *input)
{
    return input->reader ? trace_reader_empty(input->reader) : input_trace_offset(input) == 0;
}

/* Reports an error that does not end the reading. 0, or the code of another one. */
static int report(struct stored_trace *trace, struct bt_error *error)
{
    if (error->code != BT_DATA && error->code != BT_NOTE)
        return error->code;
    if (error->code == BT_NOTE && is_empty(&trace->input))
        return bt_fail(error, BT_DATA, "%.300s is empty", record_input_name(trace->path));
    input_report_found(trace->settings.report, error);
    return 0;
}

/* Reports a member that repeats earlier requests, and passes it. */
static int pass_repeated(struct stored_trace *trace, struct bt_error *error)
{
    const struct batch *batch = &trace->member.batch;
    struct bt_error found;
    bt_fail(&found, BT_DATA,
            "%.200s: offset %" PRIu64 ": the %zu records of a block are left out: it begins with "
            "request %" PRIu64 ", and request %" PRIu64 " is next",
            record_input_name(trace->path), input_trace_offset(&trace->input), batch->count,
            batch->first_index, trace->index);
    trace->peeked = false;
    input_report_found(trace->settings.report, &found);
    return trace_reader_pass_member(trace->input.reader, &trace->member, error);
}

/* The next member of the open file. 1; 0 at its end; 2: look again; or a negative code. */
static int peek_member(struct stored_trace *trace, struct bt_error *error)
{
    int result = trace_reader_peek_member(trace->input.reader, &trace->member, error);
    if (trace->met.code) {
        *error = trace->met;
        trace->met.code = 0;
        trace->peeked = false;
        return report(trace, error) < 0 ? error->code : 2;
    }
    if (result < 0)
        return report(trace, error) < 0 ? error->code : 2;
    if (result == 0)
        return 0;
    trace->peek = trace->member.batch;
    trace->peeked = true;
    if (!place(trace, &trace->peek))
        return pass_repeated(trace, error) < 0 ? error->code : 2;
    return 1;
}

/* Ends the file and opens the next one. 2, 0 if there is none, or a negative code. */
static int next_file(struct stored_trace *trace, struct bt_error *error)
{
    input_report_end_file(trace->settings.report, trace->path);
    trace->ended = true;
    if (trace->next_path == trace->captures.count)
        return 0;
    int result = open_next(trace, error);
    return result < 0 ? result : 2;
}

int stored_trace_peek(struct stored_trace *trace, struct batch *description, struct bt_error *error)
{
    int result = 2;
    while (result == 2) {
        if (trace->ended)
            return STORED_END;
        progress_show(&trace->settings.report->progress, trace->path,
                      input_trace_offset(&trace->input), input_trace_size(&trace->input));
        if (trace->remaining > 0 || !input_trace_has_blocks(&trace->input))
            return STORED_RECORDS;
        if (trace->peeked)
            break;
        result = peek_member(trace, error);
        if (result == 0)
            result = next_file(trace, error);
    }
    if (result <= 0)
        return result;
    *description = trace->peek;
    return STORED_MEMBER;
}

int stored_trace_pass(struct stored_trace *trace, struct bt_error *error)
{
    advance_member(trace);
    return trace_reader_pass_member(trace->input.reader, &trace->member, error);
}

int stored_trace_take(struct stored_trace *trace, struct stored_member *member,
                      struct bt_error *error)
{
    int result =
        trace_reader_take_member(trace->input.reader, &trace->member, &member->bytes, error);
    trace->peeked = result == 0;
    if (result < 0)
        return report(trace, error);
    if (result == 0)
        return 2;
    member->size = trace->member.member_bytes;
    member->restated = trace->restated;
    advance_member(trace);
    return 1;
}

/* Reads a batch of a member, after it was described. */
static int next_of_member(struct stored_trace *trace, struct batch *batch, struct bt_error *error)
{
    const bool begins = trace->remaining == 0;
    int result = source_next(trace->input.source, batch, -1, error);
    trace->peeked = false;
    if (result != 1) {
        trace->remaining = 0;
        return result < 0 ? report(trace, error) : 0;
    }
    if (begins) {
        loss_add(&trace->in_file, &trace->member.batch.lost);
        trace->remaining = trace->peek.count;
        batch->lost = trace->peek.lost;
    }
    trace->remaining -= batch->count < trace->remaining ? batch->count : trace->remaining;
    advance(trace, batch);
    return 1;
}

int stored_trace_next(struct stored_trace *trace, struct batch *batch, struct bt_error *error)
{
    if (input_trace_has_blocks(&trace->input))
        return next_of_member(trace, batch, error);
    int result = source_next(trace->input.source, batch, -1, error);
    if (result == 0)
        result = next_file(trace, error);
    if (result != 1)
        return result == 2 || result == 0 ? 0 : report(trace, error);
    if (!place(trace, batch))
        return 0;
    advance(trace, batch);
    return 1;
}

/* --- what is known --------------------------------------------------------------------------- */

const struct capture_info *stored_trace_info(const struct stored_trace *trace)
{
    return &trace->info;
}

unsigned stored_trace_version(const struct stored_trace *trace)
{
    return trace->member.version;
}

const char *stored_trace_name(const struct stored_trace *trace)
{
    return record_input_name(trace->captures.paths[0]);
}

bool stored_trace_in_member(const struct stored_trace *trace)
{
    return trace->remaining > 0;
}

uint64_t stored_trace_index(const struct stored_trace *trace)
{
    return trace->index;
}

uint64_t stored_trace_tick(const struct stored_trace *trace)
{
    return trace->tick;
}

const struct loss *stored_trace_lost_after(const struct stored_trace *trace)
{
    return &trace->after;
}

const struct capture_totals *stored_trace_closing(const struct stored_trace *trace)
{
    return trace->closed ? &trace->closing : NULL;
}

bool stored_trace_tells_losses(const struct stored_trace *trace, bool ended, char *message,
                               size_t size)
{
    const struct capture_totals *closing = stored_trace_closing(trace);
    if (!capture_info_has_id(&trace->info))
        snprintf(message, size, "made of a trace that does not say what it lost");
    else if (ended && !closing)
        snprintf(message, size, "the capture was cut off; what it lost at its end is unknown");
    else if (ended && closing->end != CAPTURE_END_ROTATED &&
             (!closing->final || !closing->source.known))
        snprintf(message, size, "%.159s",
                 closing->message[0] ? closing->message : "what the capture lost is unknown");
    else
        return true;
    return false;
}
