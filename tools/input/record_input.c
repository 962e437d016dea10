#include "tools/input/record_input.h"

#include "formats/base/printable.h"
#include "formats/base/thread.h"
#include "formats/blocks/block_executions.h"
#include "formats/capture/capture_file.h"
#include "formats/text/json_members.h"
#include "tools/symbols/filter_symbols.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches read ahead: enough to hide a slow one, few enough to stay in a cache. */
#define SLOTS 4u
/* Batch size for records without blocks: 192 KiB, which fit the L2 cache. */
#define RECORDS_RAW 16384u
/* Time limit of closing for the thread, which may be blocked on a pipe. */
#define CLOSE_WAIT_NS 200000000

/* The header of a file; known is false if it has none. */
struct header {
    bool known;
    struct capture_info info;
};

/* An item from the reading side: a batch, a report, the start of files, or the end. */
struct slot {
    struct batch batch;
    struct block_executions executions; /* with steps: instead of the batch's records */
    struct header header;               /* of the capture that the batch belongs to */
    struct header *started; /* with settings.headers: files that start before the batch */
    size_t started_count, started_capacity;
    int result; /* 1: a batch; BT_DATA, BT_NOTE: to be reported; RECORD_INPUT_FILE: headers only;
                   0 and others: the end */
    struct bt_error error;
    int path;              /* index of the path being read */
    uint64_t offset, size; /* position in that file and its size, for progress */
    uint64_t to_skip;      /* number of records still to skip */
    struct record_input_span span;
};

struct record_input {
    struct record_input_settings settings;
    struct input_paths operands;
    struct captures captures;
    struct input_report *report; /* settings.report or own_report */
    struct input_report own_report;

    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct slot slots[SLOTS];
    unsigned filled; /* number of slots filled so far, modulo 2^32 */
    unsigned taken;  /* number of slots that the caller has released, modulo 2^32 */
    bool stop;       /* the thread should end */
    bool finished;   /* the thread no longer accesses this structure */

    bool damaged;  /* corruption was found but not reported */
    uint64_t gaps; /* number of chosen gaps in the delivered batches */

    struct slot *current;        /* the slot whose batch record_input_next returned last */
    struct slot *pending;        /* filled slot with started files to return first */
    size_t delivered;            /* number of its started files already returned */
    const struct header *header; /* of the last result of record_input_next, or NULL */
    int path;                    /* index of that result's path */

    /* the reading side */
    struct input_trace trace;
    int next_path;             /* index of the path to open next */
    bool at_end;               /* trace is at its end */
    bool spanned;              /* a slot has the first tick of the selection */
    bool positioned;           /* trace is positioned after the records to skip */
    bool started;              /* start_file was called for this file */
    uint64_t skip, left;       /* number of records still to skip, to deliver */
    uint64_t tick_base;        /* added to the ticks of the trace being read */
    uint64_t last_tick;        /* last tick so far, over all traces */
    uint64_t index_base;       /* added to the indexes of the trace being read */
    uint64_t next_index;       /* index after the last record so far, over all traces */
    struct captures_seam seam; /* the file being read */
    const struct capture_info *info;
    struct slot *filling;
    struct record_selection *selection; /* NULL: every record */
    struct bt_error met; /* pending error of a header: files are missing, or another trace begins;
                            code 0: none */
};

/* --- the reading side: files --- */

/* Adds the start of a file to the slot. info: NULL if it has no header. */
static void start_file(struct record_input *input, const struct capture_info *info)
{
    struct slot *slot = input->filling;
    input->started = true;
    if (!input->settings.headers)
        return;
    if (slot->started_count == slot->started_capacity) {
        size_t capacity = slot->started_capacity ? 2 * slot->started_capacity : 4;
        struct header *started = realloc(slot->started, capacity * sizeof *started);
        if (!started) {
            bt_fail(&input->met, BT_MEMORY, "no memory for %zu headers", capacity);
            return;
        }
        slot->started = started;
        slot->started_capacity = capacity;
    }
    struct header *header = &slot->started[slot->started_count++];
    header->known = info != NULL;
    if (info)
        header->info = *info;
}

/*
 * Begins another file. If it belongs to another trace, ticks and indexes continue where the last
 * trace ended. An error is left in input->met.
 */
static void join_file(struct record_input *input, const struct capture_info *info, const char *path)
{
    if (input->settings.as_stored) {
        input->seam = (struct captures_seam){.path = path};
        if (info)
            input->seam.info = *info;
        input->info = info ? &input->seam.info : NULL;
        return;
    }
    const struct captures_seam before = input->seam;
    int same = captures_join(&input->seam, info, path, input->settings.concatenate, &input->met);
    if (same < 0)
        return;
    if (same == 0) {
        input->tick_base = input->last_tick;
        input->index_base = input->next_index;
    }
    input->info = info ? &input->seam.info : NULL;
    captures_check_numbers(&before, &input->seam, &input->met);
}

static void member_met(void *context, const struct capture_member *member)
{
    struct record_input *input = context;
    if (member->kind != CAPTURE_MEMBER_HEADER || input->met.code != 0)
        return;
    join_file(input, &member->info, input->seam.path);
    start_file(input, &member->info);
}

static uint64_t clock_of(const struct capture_info *info)
{
    return info ? info->clock_hz : 0;
}

/* Closes the trace that has been read and opens the next one. 0 or a negative code. */
static int open_next(struct record_input *input, struct bt_error *error)
{
    const char *path = input->captures.paths[input->next_path];
    input_trace_close(&input->trace);
    input->next_path++;
    input->at_end = input->started = input->positioned = false;
    int result = input_trace_open(&input->trace, path, &input->settings.trace, error);
    if (result == 0 && input->selection)
        result = record_selection_clock(input->selection,
                                        clock_of(source_info(input->trace.source)), error);
    if (result != 0 || input->settings.unthreaded)
        return result;
    join_file(input, source_info(input->trace.source), path);
    if (input->trace.reader)
        trace_reader_watch(input->trace.reader, member_met, input);
    return 0;
}

/* --- the reading side: records --- */

static void shift(struct record_input *input, struct batch *batch)
{
    batch->first_index += input->index_base;
    input->next_index = batch->first_index + batch->count;
    batch->first_tick += input->tick_base;
    batch->last_tick += input->tick_base;
    if (loss_total(&batch->lost) > 0) {
        batch->lost.first_tick += input->tick_base;
        batch->lost.last_tick += input->tick_base;
    }
    input->last_tick = batch->last_tick;
}

/* Removes the records before the first one wanted, and the losses before one that is removed. */
static void skip_records(struct record_input *input, struct batch *batch)
{
    const size_t some = input->skip < batch->count ? (size_t)input->skip : batch->count;
    if (input->skip > 0 && batch->count == 0) {
        batch->lost = (struct loss){.first_tick = 0};
        batch->gap = (struct gap){.milliseconds = 0};
    }
    batch_drop(batch, some);
    input->skip -= some;
}

/* Removes the records after the last one wanted. */
static void limit_records(struct record_input *input, struct batch *batch)
{
    if (batch->count <= input->left)
        return;
    batch_shorten(batch, (size_t)input->left);
    input->last_tick = batch->last_tick;
}

/* Seeks over the blocks before the time wanted. */
static int seek_time(struct record_input *input, struct bt_error *error)
{
    const uint64_t first = record_selection_first_tick(input->selection);
    return first > input->tick_base
               ? trace_reader_seek_tick(input->trace.reader, first - input->tick_base, error)
               : 0;
}

/* Seeks over the records to skip if the trace can seek. 0 or a negative code. */
static int seek_first(struct record_input *input, struct bt_error *error)
{
    input->positioned = true;
    if (input->settings.time.given)
        return input->trace.reader ? seek_time(input, error) : 0;
    if (input->skip == 0 || input->settings.keep_ticks || !input->trace.reader)
        return 0;
    int result = trace_reader_seek(input->trace.reader, input->skip, error);
    uint64_t passed = trace_reader_position(input->trace.reader);
    input->skip -= passed < input->skip ? passed : input->skip;
    return result;
}

/* Removes the records that do not match. A batch without any is delivered, too: it moves the
 * progress and lets the thread end. Returns 1 or BT_MEMORY. */
static int select_records(struct record_input *input, struct slot *slot)
{
    const int result = record_selection_apply(input->selection, &slot->batch, &slot->error);
    return result < 0 ? result : 1;
}

/* Notes the ticks of the records that are about to be filtered. */
static void note_span(struct record_input *input, struct slot *slot, bool past)
{
    const struct batch *batch = &slot->batch;
    const uint64_t first = record_selection_first_tick(input->selection);
    const uint64_t end = record_selection_last_tick(input->selection);
    slot->span = (struct record_input_span){
        .first = input->spanned || first == 0 ? batch->first_tick : first,
        .last = past && end < UINT64_MAX ? end : batch->last_tick,
        .end = end};
    input->spanned = true;
}

/* Reads from the open trace into the slot. Returns what the source returned. */
static int read_trace(struct record_input *input, struct slot *slot)
{
    size_t piece = input_trace_has_blocks(&input->trace) ? CAPTURE_BLOCK_RECORDS : RECORDS_RAW;
    uint64_t wanted = input->skip == 0 ? input->left : piece;
    slot->batch.capacity = wanted < piece ? (size_t)wanted : piece;
    if (input->settings.by_blocks && input->trace.reader)
        trace_reader_by_blocks(input->trace.reader, &slot->executions);
    int result = source_next(input->trace.source, &slot->batch, -1, &slot->error);
    input->at_end = result == 0;
    if (result != 1 || input->met.code == BT_USAGE)
        return result;
    if (!input->started)
        start_file(input, input->info);
    bool past = false;
    shift(input, &slot->batch);
    if (input->selection)
        record_selection_trim(input->selection, &slot->batch, &past);
    skip_records(input, &slot->batch);
    limit_records(input, &slot->batch);
    input->left = past ? 0 : input->left - slot->batch.count;
    if (input->selection)
        note_span(input, slot, past);
    return input->selection ? select_records(input, slot) : result;
}

/* Moves the pending error of a header to the slot. Returns its code. */
static int take_met(struct record_input *input, struct slot *slot)
{
    slot->error = input->met;
    input->met.code = 0;
    return slot->error.code;
}

/* Reads up to the next result of a slot (struct slot). */
static int read_next(struct record_input *input, struct slot *slot)
{
    for (;;) {
        if (input->met.code != 0)
            return take_met(input, slot);
        slot->batch.capacity = CAPTURE_BLOCK_RECORDS;
        if (input->selection && record_selection_held(input->selection, &slot->batch)) {
            note_span(input, slot, false);
            return 1;
        }
        if (input->left == 0)
            return 0;
        bool open = input->trace.source && !input->at_end;
        if (!open && input->next_path == input->captures.count)
            return 0;
        int result = !open                ? open_next(input, &slot->error)
                     : !input->positioned ? seek_first(input, &slot->error)
                                          : read_trace(input, slot);
        if (input->met.code == BT_USAGE)
            return take_met(input, slot);
        if (result != 0)
            return result;
        if (input->at_end && slot->started_count > 0)
            return RECORD_INPUT_FILE;
    }
}

static bool is_end(int result)
{
    return result != 1 && result != BT_DATA && result != BT_NOTE && result != RECORD_INPUT_FILE;
}

/* Fills a slot with the next item. False at the end. */
static bool fill_slot(struct record_input *input, struct slot *slot)
{
    input->filling = slot;
    slot->started_count = 0;
    block_executions_clear(&slot->executions);
    slot->result = read_next(input, slot);
    slot->path = input->next_path > 0 ? input->next_path - 1 : 0;
    slot->to_skip = input->skip;
    slot->header.known = input->info != NULL;
    if (input->info)
        slot->header.info = *input->info;
    if (input->trace.source) {
        slot->offset = input_trace_offset(&input->trace);
        slot->size = input_trace_size(&input->trace);
    }
    return !is_end(slot->result);
}

/* --- the reading thread --- */

/* Waits for the next free slot; NULL: the thread should end. */
static struct slot *next_slot(struct record_input *input)
{
    pthread_mutex_lock(&input->mutex);
    while (!input->stop && input->filled - input->taken == SLOTS)
        pthread_cond_wait(&input->changed, &input->mutex);
    bool stop = input->stop;
    pthread_mutex_unlock(&input->mutex);
    return stop ? NULL : &input->slots[input->filled % SLOTS];
}

static void publish_slot(struct record_input *input)
{
    pthread_mutex_lock(&input->mutex);
    input->filled++;
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->mutex);
}

static void *read_all(void *argument)
{
    struct record_input *input = argument;
    struct slot *slot;
    bool more = true;
    thread_set_name("input");
    while (more && (slot = next_slot(input))) {
        more = fill_slot(input, slot);
        publish_slot(input);
    }
    pthread_mutex_lock(&input->mutex);
    input->finished = true;
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->mutex);
    return NULL;
}

/* --- the caller's side --- */

void input_paths_take(struct input_paths *paths, int count, char **operands)
{
    memcpy(paths->dash, "-", sizeof paths->dash);
    paths->only[0] = paths->dash;
    paths->count = count > 0 ? count : 1;
    paths->paths = count > 0 ? operands : paths->only;
}

const char *record_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* Starts the thread or, unthreaded, opens the file. */
static int start_reading(struct record_input *input, struct bt_error *error)
{
    if (input->settings.unthreaded)
        return open_next(input, error);
    int result = pthread_create(&input->thread, NULL, read_all, input);
    if (result != 0)
        return bt_fail(error, BT_IO, "cannot start a thread: %s", strerror(result));
    return 0;
}

static int make_slots(struct record_input *input, struct bt_error *error)
{
    unsigned count = input->settings.unthreaded ? 1 : SLOTS;
    for (unsigned i = 0; i < count; i++) {
        input->slots[i].batch.records = malloc(CAPTURE_BLOCK_RECORDS * sizeof(struct record));
        if (!input->slots[i].batch.records)
            return bt_fail(error, BT_MEMORY, "no memory for %u records", CAPTURE_BLOCK_RECORDS);
        input->slots[i].batch.exchangeable = CAPTURE_BLOCK_RECORDS;
    }
    return 0;
}

static void input_free(struct record_input *input)
{
    input_trace_close(&input->trace);
    for (unsigned i = 0; i < SLOTS; i++) {
        free(input->slots[i].batch.records);
        free(input->slots[i].started);
        block_executions_free(&input->slots[i].executions);
    }
    captures_free(&input->captures);
    record_selection_free(input->selection);
    pthread_cond_destroy(&input->changed);
    pthread_mutex_destroy(&input->mutex);
    free(input);
}

static int make_selection(struct record_input *input, struct bt_error *error)
{
    const struct record_input_settings *settings = &input->settings;
    const struct module_captures captures = {input->operands.paths, input->operands.count};
    struct expression *filter = NULL;
    if (!settings->filter && !settings->time.given)
        return 0;
    if (settings->filter &&
        filter_symbols_parse(&filter, settings->filter, &settings->modules, &captures,
                             settings->silent || settings->again, error) < 0)
        return error->code;
    input->selection = record_selection_take(filter, &settings->time, error);
    return input->selection ? 0 : error->code;
}

static int input_new(struct record_input **out, int count, char **paths,
                     const struct record_input_settings *settings, struct bt_error *error)
{
    struct record_input *input = calloc(1, sizeof *input);
    if (!input)
        return bt_fail(error, BT_MEMORY, "no memory for the input");
    input->settings = *settings;
    input->settings.as_stored |= settings->unthreaded;
    input->settings.by_blocks &= !settings->filter && !settings->time.given &&
                                 settings->first == 0 && settings->count == UINT64_MAX;
    input->skip = settings->first;
    input->left = settings->count;
    pthread_mutex_init(&input->mutex, NULL);
    pthread_cond_init(&input->changed, NULL);
    input_paths_take(&input->operands, count, paths);
    input_report_begin(&input->own_report, settings->quiet_output);
    input->own_report.progress.wanted &= !settings->silent;
    input->report = settings->report ? settings->report : &input->own_report;
    *out = input;
    int result = input_trace_check(&settings->trace, error);
    if (result < 0)
        return result;
    result = make_selection(input, error);
    if (result < 0)
        return result;
    const struct captures_settings order = {.concatenate = settings->concatenate,
                                            .as_given = input->settings.as_stored};
    return captures_order(&input->captures, input->operands.count, input->operands.paths, &order,
                          error);
}

int record_input_open(struct record_input **input, int count, char **paths,
                      const struct record_input_settings *settings, struct bt_error *error)
{
    struct record_input *opened = NULL;
    int result = input_new(&opened, count, paths, settings, error);
    if (result == 0)
        result = make_slots(opened, error);
    if (result == 0)
        result = start_reading(opened, error);
    if (result == 0)
        *input = opened;
    else if (opened)
        input_free(opened);
    return result;
}

/* Releases the current slot and waits for the next filled one. */
static struct slot *take_slot(struct record_input *input)
{
    struct slot *slot = &input->slots[0];
    if (input->settings.unthreaded) {
        if (!input->finished)
            input->finished = !fill_slot(input, slot);
        input->current = NULL;
        return slot;
    }
    pthread_mutex_lock(&input->mutex);
    if (input->current) {
        input->current = NULL;
        input->taken++;
        pthread_cond_broadcast(&input->changed);
    }
    while (input->filled == input->taken)
        pthread_cond_wait(&input->changed, &input->mutex);
    slot = &input->slots[input->taken % SLOTS];
    pthread_mutex_unlock(&input->mutex);
    return slot;
}

/* Ends the report of the file read so far. */
static void end_file(struct record_input *input)
{
    if (input->captures.count > 0)
        input_report_end_file(input->report, input->captures.paths[input->path]);
}

/* Reports an error that the reader found, as the settings allow. */
static void found(struct record_input *input, const struct bt_error *error)
{
    const struct record_input_settings *settings = &input->settings;
    if (settings->hold_damage && error->code == BT_DATA)
        input->damaged = true;
    else if (!settings->silent && !settings->again)
        input_report_found(input->report, error);
}

/* Makes the slot the current one. Returns its result, BT_DATA and BT_NOTE included. */
static int use_slot(struct record_input *input, struct slot *slot, const struct batch **batch,
                    struct bt_error *error)
{
    if (slot->path != input->path)
        end_file(input);
    input->path = slot->path;
    if (is_end(slot->result)) { /* the last slot stays: the next call returns the same */
        input->header = NULL;
        end_file(input);
        if (slot->result < 0)
            *error = slot->error;
        return slot->result;
    }
    input->current = slot;
    if (slot->result == 1) {
        progress_show(&input->report->progress, input->captures.paths[slot->path], slot->offset,
                      slot->size);
        *batch = &slot->batch;
        input->gaps += slot->batch.gap.chosen;
    } else if (slot->result != RECORD_INPUT_FILE) {
        found(input, &slot->error);
    }
    return slot->result;
}

int record_input_next(struct record_input *input, const struct batch **batch,
                      struct bt_error *error)
{
    for (;;) {
        struct slot *slot = input->pending ? input->pending : take_slot(input);
        input->pending = NULL;
        if (input->delivered < slot->started_count) {
            input->pending = slot;
            input->header = &slot->started[input->delivered++];
            return RECORD_INPUT_FILE;
        }
        input->delivered = 0;
        slot->started_count = 0;
        input->header = &slot->header;
        int result = use_slot(input, slot, batch, error);
        if (result == 1 || !input->current)
            return result;
    }
}

const struct capture_info *record_input_info(const struct record_input *input)
{
    return input->header && input->header->known ? &input->header->info : NULL;
}

const struct block_executions *record_input_executions(const struct record_input *input)
{
    return input->current->executions.step_count > 0 ? &input->current->executions : NULL;
}

struct record_input_span record_input_span(const struct record_input *input)
{
    return input->current->span;
}

uint64_t record_input_to_skip(const struct record_input *input)
{
    return input->slots[input->taken % SLOTS].to_skip;
}

const struct input_trace *record_input_trace(const struct record_input *input)
{
    return &input->trace;
}

int record_input_run(struct record_input *input, struct sink *sink, struct bt_error *error)
{
    const struct batch *batch;
    int result;
    while ((result = record_input_next(input, &batch, error)) == 1) {
        result = sink_put(sink, batch, error);
        if (result < 0)
            return result;
    }
    return result;
}

/* Whether the thread ends within CLOSE_WAIT_NS: it may be blocked on a silent pipe. */
static bool thread_ended(struct record_input *input)
{
    struct timespec until;
    if (input->settings.unthreaded)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CLOSE_WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&input->mutex);
    input->stop = true;
    pthread_cond_broadcast(&input->changed);
    int result = 0;
    while (!input->finished && result == 0)
        result = pthread_cond_timedwait(&input->changed, &input->mutex, &until);
    bool finished = input->finished;
    pthread_mutex_unlock(&input->mutex);
    return finished;
}

void record_input_step(struct record_input *input, const char *step)
{
    progress_step(&input->report->progress, step);
}

int record_input_close(struct record_input *input)
{
    if (!input)
        return 0;
    progress_clear(&input->report->progress);
    end_file(input);
    if (input->gaps > 0 && input->settings.gap_note && !input->settings.silent)
        fprintf(stderr, "bustap: %" PRIu64 " %s, chosen: %s\n", input->gaps,
                input->gaps == 1 ? "gap" : "gaps", input->settings.gap_note);
    int status = input->report->status;
    if (input->damaged && status == 0)
        status = 1;
    if (thread_ended(input)) {
        if (!input->settings.unthreaded)
            pthread_join(input->thread, NULL);
        input_free(input);
    } else {
        /* the thread uses the input until the process ends: it is not freed */
        pthread_detach(input->thread);
    }
    return status;
}

/* --- options --- */

char *record_input_only(char text[RECORD_INPUT_ONLY_BYTES],
                        const struct record_input_settings *settings)
{
    snprintf(text, RECORD_INPUT_ONLY_BYTES, "%s%s%s%s", settings->time.given ? ", only " : "",
             settings->time.given ? PRINTABLE(settings->time.text) : "",
             settings->filter ? ", only " : "",
             settings->filter ? PRINTABLE(settings->filter) : "");
    return text;
}

void record_input_json(struct json_put *json, const struct record_input_settings *settings)
{
    if (settings->time.given)
        json_text(json, "time_range", settings->time.text);
    if (settings->filter)
        json_text(json, "filter", settings->filter);
}

int record_input_take_filter(void *field, const char *argument, struct bt_error *error)
{
    *(const char **)field = argument;
    return filter_symbols_check(argument, error);
}

int record_input_take_time(void *field, const char *argument, struct bt_error *error)
{
    return time_range_parse(field, argument, error);
}

/* --- counting --- */

/* Counts the records of a trace that cannot seek, by reading it. */
static int count_by_reading(struct source *source, uint64_t *records, struct bt_error *error)
{
    struct record some[1024];
    struct batch batch = {.records = some, .capacity = 1024};
    int result;
    while ((result = source_next(source, &batch, -1, error)) != 0) {
        if (result == 1)
            *records += batch.count;
        else if (result != BT_DATA && result != BT_NOTE)
            return result;
    }
    return 0;
}

static int count_file(const char *path, const struct record_input_settings *settings,
                      uint64_t *records, struct bt_error *error)
{
    struct input_trace trace;
    int result = input_trace_open(&trace, path, &settings->trace, error);
    if (result != 0)
        return result;
    if (trace.reader) {
        result = trace_reader_seek(trace.reader, UINT64_MAX, error);
        *records += trace_reader_position(trace.reader);
    } else {
        result = count_by_reading(trace.source, records, error);
    }
    input_trace_close(&trace);
    return result == BT_DATA ? 0 : result;
}

int record_input_count(int count, char **paths, const struct record_input_settings *settings,
                       uint64_t *records, struct bt_error *error)
{
    int result = 0;
    *records = 0;
    for (int i = 0; i < count && result == 0; i++) {
        if (strcmp(paths[i], "-") == 0)
            result = bt_fail(error, BT_USAGE,
                             "standard input cannot be divided: save it to a file first");
        else
            result = count_file(paths[i], settings, records, error);
    }
    return result;
}
