#include "tools/input/record_input.h"

#include "formats/base/thread.h"
#include "formats/capture/capture_file.h"
#include "formats/capture/trace_reader.h"
#include "formats/foreign/trace_format.h"
#include "tools/common/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Batches that are read ahead: enough to hide a slow one, few enough to stay in a cache. */
#define SLOTS 4u
/* Records without blocks come in pieces that stay in the processor's nearer caches. */
#define RECORDS_RAW 16384u
/* For how long closing waits for a thread that may be waiting for a pipe. */
#define CLOSE_WAIT_NS 200000000

/* What the reading thread hands over: a batch, something to tell, or the end. */
struct slot {
    struct batch batch;
    struct capture_info info; /* of the capture that the batch is of; zero where there is none */
    bool has_info;
    int result; /* 1: a batch; BT_DATA, BT_NOTE: something to tell; 0 and others: the end */
    struct bt_error error;
    int path;              /* being read */
    uint64_t offset, size; /* of that file, for progress */
};

struct record_input {
    struct record_input_settings settings;
    struct transfer_paths operands;
    struct captures captures;
    struct transfer transfer; /* telling, progress and the exit status */

    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct slot slots[SLOTS];
    unsigned filled; /* slots that the thread has filled so far, modulo 2^32 */
    unsigned taken;  /* slots that the study is through with */
    bool stop;       /* nothing more is wanted */
    bool finished;   /* the thread touches nothing any more */

    bool damaged;  /* what was not told */
    uint64_t gaps; /* chosen ones, in what was delivered */

    struct slot *current; /* what record_input_next gave last */
    int path;             /* that this is of */

    /* the thread's own */
    uint64_t skip, left;
    uint64_t tick_base;        /* added to the ticks of the trace being read */
    uint64_t last_tick;        /* of all so far */
    uint64_t index_base;       /* added to the indexes of the trace being read */
    uint64_t next_index;       /* behind all so far */
    struct captures_seam seam; /* the file that is being read */
    const struct capture_info *info;
    struct bt_error met; /* with a header: files are missing, or another trace begins; code 0: no */
};

/* --- one trace --- */

struct trace {
    struct source *source;
    struct trace_reader *reader; /* the same, where the trace is one of ours */
    int path;
};

/* How a trace of that format is read, if it is one of ours; a format that was named is that. */
static unsigned reading_of(const struct record_input_settings *settings,
                           const struct trace_format *format)
{
    return transfer_flags(&settings->reading) | (settings->from ? TRACE_INSIST : 0u) |
           (strcmp(format->name, "byu-lp64") == 0 ? TRACE_LP64 : 0u);
}

static int trace_open(struct trace *trace, const char *path,
                      const struct record_input_settings *settings, struct bt_error *error)
{
    const struct trace_format *format = settings->from ? trace_format_find(settings->from, error)
                                                       : trace_format_detect(path, error);
    *trace = (struct trace){.source = NULL};
    if (!format)
        return error->code;
    if (format->decoder)
        return trace_format_open(&trace->source, format->name, path, &settings->foreign, error);
    int result = trace_reader_open(&trace->reader, path, reading_of(settings, format), error);
    if (result == 0)
        trace->source = trace_reader_source(trace->reader);
    return result;
}

/* --- the reading thread --- */

/* The next free slot, once there is one; NULL where nothing more is wanted. */
static struct slot *next_slot(struct record_input *input)
{
    pthread_mutex_lock(&input->mutex);
    while (!input->stop && input->filled - input->taken == SLOTS)
        pthread_cond_wait(&input->changed, &input->mutex);
    bool stop = input->stop;
    pthread_mutex_unlock(&input->mutex);
    return stop ? NULL : &input->slots[input->filled % SLOTS];
}

static void give_slot(struct record_input *input)
{
    pthread_mutex_lock(&input->mutex);
    input->filled++;
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->mutex);
}

/*
 * Another file begins. Where that is another trace its time and its count of requests go on where
 * the last one ended. What is wrong with it is in input->met.
 */
static void begin_file(struct record_input *input, const struct capture_info *info,
                       const char *path)
{
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
    if (member->kind == CAPTURE_MEMBER_HEADER && input->met.code == 0)
        begin_file(input, &member->info, input->seam.path);
}

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

/* Leaves out the records in front of the first one wanted. */
static void skip_records(struct record_input *input, struct batch *batch)
{
    size_t some = input->skip < batch->count ? (size_t)input->skip : batch->count;
    if (some == 0)
        return;
    if (some < batch->count)
        batch->first_tick += records_time(batch->records + 1, some);
    batch->count -= some;
    batch->first_index += some;
    memmove(batch->records, batch->records + some, batch->count * sizeof *batch->records);
    batch->lost = (struct loss){.first_tick = 0};
    batch->gap = (struct gap){.milliseconds = 0};
    input->skip -= some;
}

/* Leaves out the records behind the last one wanted. */
static void limit_records(struct record_input *input, struct batch *batch)
{
    if (batch->count <= input->left)
        return;
    batch->count = (size_t)input->left;
    batch->last_tick = batch->first_tick + records_time(batch->records + 1, batch->count - 1);
    input->last_tick = batch->last_tick;
}

static void describe(struct record_input *input, struct slot *slot, const struct trace *trace)
{
    slot->path = trace->path;
    slot->offset =
        trace->reader ? trace_reader_offset(trace->reader) : trace_format_offset(trace->source);
    slot->size =
        trace->reader ? trace_reader_size(trace->reader) : trace_format_size(trace->source);
    slot->has_info = input->info != NULL;
    if (input->info)
        slot->info = *input->info;
}

/* Has the study's side tell something. False: nothing more is wanted. */
static bool tell(struct record_input *input, const struct trace *trace,
                 const struct bt_error *error)
{
    struct slot *slot = next_slot(input);
    if (!slot)
        return false;
    slot->result = error->code;
    slot->error = *error;
    describe(input, slot, trace);
    give_slot(input);
    return true;
}

/* Tells what was met with a header. 0, or why it ends the study. */
static int tell_met(struct record_input *input, const struct trace *trace, struct bt_error *error)
{
    const struct bt_error met = input->met;
    input->met.code = 0;
    if (met.code == BT_DATA)
        (void)tell(input, trace, &met);
    else if (met.code < 0)
        *error = met;
    return met.code == BT_DATA ? 0 : met.code;
}

/* Reads a trace to its end, or as far as it is wanted. 0, or why it cannot be read on. */
static int read_source(struct record_input *input, const struct trace *trace,
                       struct bt_error *error)
{
    bool blocks = trace->reader && trace_reader_kind(trace->reader) == TRACE_CAPTURE;
    size_t piece = blocks ? CAPTURE_BLOCK_RECORDS : RECORDS_RAW;
    while (input->left > 0) {
        struct slot *slot = next_slot(input);
        if (!slot)
            return 0;
        uint64_t wanted = input->skip == 0 ? input->left : piece;
        slot->batch.capacity = wanted < piece ? (size_t)wanted : piece;
        slot->result = source_next(trace->source, &slot->batch, -1, &slot->error);
        if (input->met.code == BT_USAGE)
            return tell_met(input, trace, error);
        if (slot->result == 1) {
            shift(input, &slot->batch);
            skip_records(input, &slot->batch);
            limit_records(input, &slot->batch);
            input->left -= slot->batch.count;
        } else if (slot->result != BT_DATA && slot->result != BT_NOTE) {
            *error = slot->error;
            return slot->result;
        }
        describe(input, slot, trace);
        give_slot(input);
        tell_met(input, trace, error);
    }
    return 0;
}

/* Hops over records that are not wanted. 0, or why the trace cannot be read on. */
static int hop(struct record_input *input, const struct trace *trace, struct bt_error *error)
{
    if (input->skip == 0 || input->settings.keep_ticks || !trace->reader)
        return 0;
    int result = trace_reader_seek(trace->reader, input->skip, error);
    uint64_t passed = trace_reader_position(trace->reader);
    input->skip -= passed < input->skip ? passed : input->skip;
    if (result == BT_DATA)
        result = tell(input, trace, error) ? 0 : result;
    return result;
}

static int read_trace(struct record_input *input, int path, struct bt_error *error)
{
    struct trace trace;
    int result = trace_open(&trace, input->captures.paths[path], &input->settings, error);
    if (result != 0)
        return result;
    trace.path = path;
    begin_file(input, source_info(trace.source), input->captures.paths[path]);
    if (trace.reader)
        trace_reader_watch(trace.reader, member_met, input);
    result = tell_met(input, &trace, error);
    if (result == 0)
        result = hop(input, &trace, error);
    if (result == 0)
        result = tell_met(input, &trace, error);
    if (result == 0)
        result = read_source(input, &trace, error);
    source_close(trace.source);
    return result;
}

static void *read_all(void *argument)
{
    struct record_input *input = argument;
    struct bt_error error;
    int result = 0;
    thread_set_name("input");
    int path = 0;
    while (path < input->captures.count && result == 0 && input->left > 0)
        result = read_trace(input, path++, &error);
    struct slot *slot = next_slot(input);
    if (slot) {
        slot->result = result;
        slot->path = path > 0 ? path - 1 : 0;
        if (result < 0)
            slot->error = error;
        give_slot(input);
    }
    pthread_mutex_lock(&input->mutex);
    input->finished = true;
    pthread_cond_broadcast(&input->changed);
    pthread_mutex_unlock(&input->mutex);
    return NULL;
}

/* --- the study's side --- */

static int start_thread(struct record_input *input, struct bt_error *error)
{
    int result = pthread_create(&input->thread, NULL, read_all, input);
    if (result != 0)
        return bt_fail(error, BT_IO, "cannot start a thread: %s", strerror(result));
    return 0;
}

static int make_slots(struct record_input *input, struct bt_error *error)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        input->slots[i].batch.records = malloc(CAPTURE_BLOCK_RECORDS * sizeof(struct record));
        if (!input->slots[i].batch.records)
            return bt_fail(error, BT_MEMORY, "no memory for %u records", CAPTURE_BLOCK_RECORDS);
    }
    return 0;
}

static void input_free(struct record_input *input)
{
    for (unsigned i = 0; i < SLOTS; i++)
        free(input->slots[i].batch.records);
    captures_free(&input->captures);
    pthread_cond_destroy(&input->changed);
    pthread_mutex_destroy(&input->mutex);
    free(input);
}

static int input_new(struct record_input **out, int count, char **paths,
                     const struct record_input_settings *settings, struct bt_error *error)
{
    struct record_input *input = calloc(1, sizeof *input);
    if (!input)
        return bt_fail(error, BT_MEMORY, "no memory for the input");
    input->settings = *settings;
    input->skip = settings->first;
    input->left = settings->count;
    pthread_mutex_init(&input->mutex, NULL);
    pthread_cond_init(&input->changed, NULL);
    transfer_take_paths(&input->operands, count, paths);
    progress_begin(&input->transfer.progress, settings->quiet_output);
    input->transfer.progress.wanted &= !settings->silent;
    *out = input;
    const struct trace_format *from =
        settings->from ? trace_format_find(settings->from, error) : NULL;
    if (settings->from && !from)
        return error->code;
    if (from && settings->reading.lp64 && from->decoder)
        return bt_fail(error, BT_USAGE, "--lp64 is for BYU records, and --from says %s",
                       from->name);
    const struct captures_settings one = {.concatenate = settings->concatenate};
    return captures_order(&input->captures, input->operands.count, input->operands.paths, &one,
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
        result = start_thread(opened, error);
    if (result == 0)
        *input = opened;
    else if (opened)
        input_free(opened);
    return result;
}

/* The slot that the thread fills next, once it is filled. */
static struct slot *take_slot(struct record_input *input)
{
    pthread_mutex_lock(&input->mutex);
    if (input->current) {
        input->current = NULL;
        input->taken++;
        pthread_cond_broadcast(&input->changed);
    }
    while (input->filled == input->taken)
        pthread_cond_wait(&input->changed, &input->mutex);
    struct slot *slot = &input->slots[input->taken % SLOTS];
    pthread_mutex_unlock(&input->mutex);
    return slot;
}

/* What is left to say of the file read so far. */
static void end_file(struct record_input *input)
{
    if (input->captures.count > 0)
        transfer_end_file(&input->transfer, input->captures.paths[input->path]);
}

int record_input_next(struct record_input *input, const struct batch **batch,
                      struct bt_error *error)
{
    for (;;) {
        struct slot *slot = take_slot(input);
        if (slot->path != input->path)
            end_file(input);
        input->path = slot->path;
        if (slot->result == 1 || slot->result == BT_DATA || slot->result == BT_NOTE)
            input->current = slot;
        if (slot->result == 1) {
            progress_show(&input->transfer.progress, input->captures.paths[slot->path],
                          slot->offset, slot->size);
            *batch = &slot->batch;
            input->gaps += slot->batch.gap.chosen;
            return 1;
        }
        if (!input->current) { /* the last slot stays where it is: asked again, it says the same */
            end_file(input);
            if (slot->result < 0)
                *error = slot->error;
            return slot->result;
        }
        if (input->settings.hold_damage && slot->result == BT_DATA)
            input->damaged = true;
        else if (!input->settings.silent)
            transfer_tell_input(&input->transfer, &slot->error);
    }
}

const struct capture_info *record_input_info(const struct record_input *input)
{
    return input->current && input->current->has_info ? &input->current->info : NULL;
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

/* Whether the thread has ended, or does so soon: it may be waiting for a pipe that says nothing. */
static bool wait_for_thread(struct record_input *input)
{
    struct timespec until;
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

int record_input_close(struct record_input *input)
{
    if (!input)
        return 0;
    progress_clear(&input->transfer.progress);
    end_file(input);
    if (input->gaps > 0 && input->settings.gap_note && !input->settings.silent)
        fprintf(stderr, "bustap: %" PRIu64 " %s, chosen: %s\n", input->gaps,
                input->gaps == 1 ? "gap" : "gaps", input->settings.gap_note);
    int status = input->transfer.status;
    if (input->damaged && status == 0)
        status = 1;
    if (wait_for_thread(input)) {
        pthread_join(input->thread, NULL);
        input_free(input);
    } else {
        /* it holds the input until it wakes up, or until the process ends */
        pthread_detach(input->thread);
    }
    return status;
}

/* --- counting --- */

/* Reads a trace to its end, for want of a way to hop over it. */
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
    struct trace trace;
    int result = trace_open(&trace, path, settings, error);
    if (result != 0)
        return result;
    if (trace.reader) {
        result = trace_reader_seek(trace.reader, UINT64_MAX, error);
        *records += trace_reader_position(trace.reader);
    } else {
        result = count_by_reading(trace.source, records, error);
    }
    source_close(trace.source);
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
