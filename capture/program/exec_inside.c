#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, "e" */
#include "capture/program/exec_inside.h"

#include "capture/exec/kernel/execute_probe.h"
#include "capture/exec/kernel/process.h"
#include "capture/program/exec_sender.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "formats/record/expression.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS     256u /* values of a record's processor */
#define CALL_TEXT   160
#define CALL_FORM   "%d,%d,%ld,%c,%" SCNu64 ",%" SCNu64 ",%" SCNu64 ",%" SCNu64
#define CALL_FIELDS 8
#define SELECTED    4096u   /* records to which the filter is applied at a time */
#define CLAIM_NS    5000000 /* interval of tries to claim a lane */

/* The argument `call` of the other bustap, in CALL_FORM: descriptors of the lanes and of the
 * program's file; number of the process that executes it, -1: a child in its parent's memory; the
 * action; and the program's memory limits. */
enum { EXECUTES = 'x', CHECKS = 'c' };

/* Exit statuses of CHECKS; any other: it could not start. */
enum { CAN_BE_CAPTURED = 0, IS_REPORTED = 1 };

struct exec_inside {
    struct exec_lanes *lanes;
    const struct exec_orders *orders;
    struct exec_user user;
    struct exec_sender *senders[THREADS]; /* by thread; without `each` only the first */
    struct exec_sender own[THREADS];      /* those of threads with a ring of their own */
    bool filters;                         /* records may be left out */
    bool has_regions;                     /* instructions decide what is captured */
    struct expression *expression;        /* the filter; NULL: none */
    uint64_t indices[THREADS];            /* by thread: number of records so far, kept or not */
    uint64_t ticks[THREADS];              /* and their time */
    uint32_t times[THREADS];              /* time of the records left out since the ring's last */
    bool elsewhere[THREADS];              /* the thread's instruction is not selected */
    bool has_events;                      /* records may have events */
    bool gaps[THREADS];                   /* a gap precedes the thread's next record */
    bool any[THREADS];                    /* the thread's ring has received records */
    uint8_t events[THREADS]; /* by processor: enum record_event before its next fetch */
    uint32_t names[THREADS]; /* by processor: number of the thread that has it */
    uint64_t counted;        /* instructions in entries, at the last count */
    uint64_t counted_before; /* those before a fork made this process */
    uint32_t reused;         /* number of threads whose processor was used before */
    bool detached;           /* records of this process are discarded */
    int descriptor;          /* of the lanes, inherited by followed programs */
    char call[CALL_TEXT];
    int file; /* descriptor of a program that is about to be executed */
    struct process *process;
    struct process_operations operations;
    const struct exec_inside_operations *callbacks;
    void *context; /* passed to all callbacks */
    const char *path;
};

/* --- records -----------------------------------------------------------------------------------
 */

/* Whether a record is kept. Reads and writes belong to the preceding fetch. */
static bool is_wanted(struct exec_inside *inside, unsigned thread, const struct record *record,
                      bool selected)
{
    const struct exec_orders *orders = inside->orders;
    if (orders->code[0]) {
        if (record->type == REQUEST_FETCH)
            inside->elsewhere[thread] =
                !inside->callbacks->is_selected(inside->context, record->address);
        if (inside->elsewhere[thread])
            return false;
    }
    return selected && !(orders->only_data && record->type == REQUEST_FETCH) &&
           !(orders->only_fetch && record->type != REQUEST_FETCH);
}

/* Gives the event of a processor to its first fetch. The records are of one processor. */
static void put_event(struct exec_inside *inside, struct record *records, size_t count)
{
    uint8_t *event = &inside->events[records[0].processor];
    size_t at = 0;
    while (at < count && records[at].type != REQUEST_FETCH)
        at++;
    if (at == count)
        return;
    records[at].attribute = (uint8_t)((records[at].attribute & ~ATTRIBUTE_EVENT) | *event);
    inside->has_events = true;
    *event = EVENT_NONE;
}

static void note_event(void *context, unsigned processor, enum record_event event)
{
    struct exec_inside *inside = context;
    if (inside->events[processor] != EVENT_THREAD)
        inside->events[processor] = (uint8_t)event;
    if (event == EVENT_THREAD)
        inside->names[processor] = THREADS + inside->reused++;
}

/* A record with an event is not kept: another thread still begins with the next one that is. */
static void drop_event(struct exec_inside *inside, const struct record *record)
{
    if (record->type == REQUEST_FETCH && (record->attribute & ATTRIBUTE_EVENT) == EVENT_THREAD)
        inside->events[record->processor] = EVENT_THREAD;
}

/* Applies the expression to at most SELECTED records of a ring: sets a bit for each that matches.
 */
static void select_records(struct exec_inside *inside, unsigned ring, struct record *records,
                           size_t count, uint64_t *selected)
{
    const struct batch batch = {
        .records = records, .count = count, .first_tick = inside->ticks[ring] + records[0].time};
    expression_select(inside->expression, &batch, inside->indices[ring], selected);
    inside->indices[ring] += count;
    inside->ticks[ring] += records_time(records, count);
}

/* Removes records that are not kept, and adds their time to the ring's next record. Returns the
 * number kept. */
static size_t keep_wanted(struct exec_inside *inside, unsigned ring, struct record *records,
                          size_t count)
{
    uint32_t *time = &inside->times[ring];
    uint64_t selected[SELECTED / 64];
    size_t kept = 0;
    memset(selected, 0xff, sizeof selected);
    for (size_t i = 0; i < count; i++) {
        const struct record record = records[i];
        if (inside->expression && i % SELECTED == 0)
            select_records(inside, ring, records + i, count - i < SELECTED ? count - i : SELECTED,
                           selected);
        bool matches = selected[i % SELECTED / 64] >> i % 64 & 1;
        *time = record.time < UINT32_MAX - *time ? *time + record.time : UINT32_MAX;
        if (!is_wanted(inside, record.processor, &record, matches)) {
            drop_event(inside, &record);
            continue;
        }
        records[kept] = record;
        records[kept++].time = *time;
        *time = 0;
    }
    return kept;
}

/* Claims a lane. Waits while all are in use but one of an ended user will become free. -1: none
 * will. */
static int claim(struct exec_inside *inside)
{
    const struct timespec moment = {0, CLAIM_NS};
    int lane = exec_lanes_claim(inside->lanes, &inside->user, true);
    for (bool over = true; lane < 0 && over && exec_lanes_taken(inside->lanes);) {
        over = exec_lanes_any_over(inside->lanes, inside->user.process);
        lane = exec_lanes_claim(inside->lanes, &inside->user, true);
        if (lane < 0 && over)
            nanosleep(&moment, NULL);
    }
    return lane;
}

/* Gives the thread a ring. */
static void begin_ring(struct exec_inside *inside, unsigned thread, int lane)
{
    inside->own[thread] = (struct exec_sender){.ring = exec_lanes_ring(inside->lanes, lane),
                                               .taken = exec_lanes_taken,
                                               .context = inside->lanes};
    inside->senders[thread] = &inside->own[thread];
}

/* The sender of a thread; threads without a free lane share the first thread's ring. */
static struct exec_sender *sender_of(struct exec_inside *inside, unsigned thread)
{
    if (inside->senders[thread])
        return inside->senders[thread];
    inside->user.thread = inside->names[thread] ? inside->names[thread] : thread;
    int lane = claim(inside);
    if (lane < 0)
        inside->senders[thread] = inside->senders[0];
    else
        begin_ring(inside, thread, lane);
    return inside->senders[thread];
}

/* The marks of a thread's next record. */
static struct exec_marks take_marks(struct exec_inside *inside, unsigned thread)
{
    const struct exec_marks marks = {.begins_part = inside->gaps[thread] && inside->any[thread],
                                     .has_events = inside->has_events};
    inside->gaps[thread] = false;
    inside->any[thread] = true;
    return marks;
}

static int put_thread(struct exec_inside *inside, unsigned thread, struct record *records,
                      size_t count)
{
    struct exec_sender *sender = sender_of(inside, thread);
    if (count > 0 && inside->events[records[0].processor] != EVENT_NONE)
        put_event(inside, records, count);
    if (inside->filters) {
        size_t kept = keep_wanted(inside, thread, records, count);
        message_ring_add_filtered(sender->ring, count - kept);
        count = kept;
    }
    if (count == 0)
        return 0;
    const struct exec_marks marks = take_marks(inside, thread);
    return exec_sender_records(sender, records, count, &marks);
}

/* Whether the executions have a record, and so a fetch. */
static bool has_fetch(const struct code_cache *cache, const uint32_t *entries, size_t count)
{
    for (const struct block *block; count > 0; entries += block->slots, count -= block->slots) {
        block = code_cache_block(cache, *entries);
        if (block->instructions > 0)
            return true;
    }
    return false;
}

static uint64_t count_instructions(const struct code_cache *cache, const uint32_t *entries,
                                   size_t count)
{
    uint64_t instructions = 0;
    for (size_t at = 0; at < count;) {
        const struct block *block = code_cache_block(cache, entries[at]);
        instructions += block->instructions;
        at += block->slots;
    }
    return instructions;
}

/* Entries are expanded by the consumer, which also counts the instructions; see count(). */
static int put_entries(struct exec_inside *inside, struct trace_expander *expander,
                       const uint32_t *entries, size_t count)
{
    const unsigned thread = inside->orders->each ? expander->processor : 0;
    if (inside->has_regions)
        expander->instructions += count_instructions(expander->cache, entries, count);
    if (!has_fetch(expander->cache, entries, count))
        return 0;
    struct exec_sender *sender = sender_of(inside, thread);
    struct exec_marks marks = take_marks(inside, thread);
    marks.event = inside->events[expander->processor];
    inside->events[expander->processor] = EVENT_NONE;
    return exec_sender_entries(sender, expander, entries, count, &marks);
}

/* The part of an execution is expanded here, because it is rare. */
static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct exec_inside *inside = context;
    struct trace_expander own = *expander;
    if (inside->detached)
        return 0;
    int result = count > 0 ? put_entries(inside, expander, entries, count) : 0;
    if (!part || result < 0)
        return result;
    own.take = NULL;
    own.instructions = expander->instructions;
    result = trace_expand_part(&own, part, entries + count, instructions);
    expander->instructions = own.instructions;
    return result < 0 ? result : trace_expander_flush(&own);
}

/* Waits until the consumer, which counts, has taken all. Without regions and `each` it counts the
 * whole process. */
static uint64_t count(void *context)
{
    struct exec_inside *inside = context;
    const struct exec_sender *sender = inside->senders[0];
    if (!inside->detached && sender && sender == &inside->own[0] && !inside->orders->each) {
        message_ring_settle(sender->ring, exec_lanes_taken, inside->lanes);
        inside->counted = inside->counted_before + message_ring_counted(sender->ring);
    }
    return inside->counted;
}

/* A region opens for one thread, or (-1) for all. */
static void note_gap(void *context, int processor)
{
    struct exec_inside *inside = context;
    for (unsigned i = 0; i < THREADS; i++) /* a signal was outside of the regions */
        if ((processor < 0 || i == (unsigned)processor) && inside->events[i] != EVENT_THREAD)
            inside->events[i] = EVENT_NONE;
    if (processor >= 0 && inside->orders->each)
        inside->gaps[processor] = true;
    else
        memset(inside->gaps, true, sizeof inside->gaps);
}

static int put(void *context, struct record *records, size_t count)
{
    struct exec_inside *inside = context;
    if (inside->detached)
        return 0;
    if (!inside->orders->each)
        return put_thread(inside, 0, records, count);
    int result = 0;
    for (size_t at = 0, end; at < count && result == 0; at = end) {
        for (end = at + 1; end < count && records[end].processor == records[at].processor; end++)
            continue;
        result = put_thread(inside, records[at].processor, records + at, end - at);
    }
    return result;
}

/* Before the process ends or executes another program. */
static void report_switches(const struct exec_inside *inside)
{
    if (!inside->detached)
        exec_lanes_set_switches(inside->lanes, inside->user.process,
                                process_switches(inside->process));
}

/* A later thread may have the processor, and another lane. */
static void end_thread(void *context, unsigned processor)
{
    struct exec_inside *inside = context;
    const struct exec_sender *sender = inside->senders[processor];
    if (!inside->orders->each || inside->detached || !sender)
        return;
    report_switches(inside);
    if (sender != inside->senders[0])
        exec_lanes_end(inside->lanes, sender->ring);
    inside->senders[processor] = NULL;
    inside->any[processor] = inside->gaps[processor] = false;
    inside->times[processor] = 0;
}

static void end_rings(struct exec_inside *inside)
{
    report_switches(inside);
    for (unsigned i = 0; i < THREADS && !inside->detached; i++)
        if (inside->senders[i])
            message_ring_end(inside->senders[i]->ring);
    memset(inside->senders, 0, sizeof inside->senders);
}

/* Claims the lane of a new process. */
static void begin_process(struct exec_inside *inside)
{
    inside->user.alive = alive_process(getpid());
    inside->user.process = exec_lanes_count_process(inside->lanes);
    inside->user.thread = 0;
    memset(inside->senders, 0, sizeof inside->senders);
    inside->counted_before = inside->counted;
    memset(inside->any, 0, sizeof inside->any);
    memset(inside->times, 0, sizeof inside->times);
    memset(inside->events, 0, sizeof inside->events);
    memset(inside->names, 0, sizeof inside->names);
    inside->reused = 0;
    int lane = claim(inside);
    inside->detached = lane < 0;
    if (lane >= 0) {
        begin_ring(inside, 0, lane);
        inside->callbacks->process(inside->context, inside->user.process);
        return;
    }
    exec_lanes_miss(inside->lanes);
    exec_lanes_note(inside->lanes, "process %ld (%s) is not captured: there are %u others already",
                    (long)inside->user.alive.number, inside->user.command, EXEC_LANES);
}

/* --- children, and programs that replace this one ----------------------------------------------
 */

static void forked(void *context, bool shares_files)
{
    (void)shares_files;
    struct exec_inside *inside = context;
    bool was_detached = inside->detached;
    inside->detached = true;
    if (inside->orders->follow && !was_detached)
        begin_process(inside);
    if (inside->detached)
        process_close_regions(inside->process);
}

static void miss(struct exec_inside *inside, const char *path, const char *why)
{
    exec_lanes_miss(inside->lanes);
    exec_lanes_note(inside->lanes, "not captured: %.300s: %s", path, why);
}

static void write_call(struct exec_inside *inside, const struct process_execution *execution,
                       int what)
{
    uint64_t limits[PROCESS_LIMITS];
    process_get_limits(inside->process, limits);
    snprintf(inside->call, sizeof inside->call, CALL_FORM, inside->descriptor, inside->file,
             execution->is_child || inside->detached ? -1L : (long)inside->user.process, what,
             limits[0], limits[1], limits[2], limits[3]);
}

static size_t execute(void *context, const struct process_execution *execution,
                      const char **leading)
{
    struct exec_inside *inside = context;
    if (!inside->orders->follow && (execution->is_child || inside->detached))
        return 0;
    inside->file = execution->file;
    report_switches(inside);
    if (!exec_lanes_are_inherited(inside->lanes)) {
        miss(inside, execution->path, "the limit of file sizes (ulimit -f) is too low");
        return 0;
    }
    if (execution->file < 0) {
        char why[100];
        snprintf(why, sizeof why, "its file cannot be read: %s", strerror(execution->failure));
        miss(inside, execution->path, why);
        return 0;
    }
    leading[0] = "bustap";
    leading[1] = "exec";
    leading[2] = EXEC_INSIDE;
    leading[3] = inside->call;
    leading[4] = execution->path;
    return 5;
}

/* A second bustap loads the program, and exits. */
static bool check(void *context, const struct process_execution *execution, char *const *arguments,
                  char *const *environment)
{
    struct exec_inside *inside = context;
    const int inherited[2] = {inside->descriptor, inside->file};
    write_call(inside, execution, CHECKS);
    int status = execute_and_wait(PROCESS_OWN_PATH, arguments, environment, inherited);
    if (WIFEXITED(status) && WEXITSTATUS(status) == IS_REPORTED)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != CAN_BE_CAPTURED) {
        miss(inside, execution->path, "bustap itself cannot be executed there");
        return false;
    }
    write_call(inside, execution, EXECUTES);
    fcntl(inside->descriptor, F_SETFD, 0);
    fcntl(inside->file, F_SETFD, 0);
    return true;
}

static void execute_failed(void *context, const struct process_execution *execution)
{
    struct exec_inside *inside = context;
    fcntl(inside->descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(inside->file, F_SETFD, FD_CLOEXEC);
    miss(inside, execution->path, strerror(execution->failure));
}

/* Moves the descriptor of the lanes to the highest free number, and hides it from the program. */
static int keep_descriptor(struct exec_inside *inside, struct bt_error *error)
{
    struct rlimit limit;
    if (!exec_lanes_are_inherited(inside->lanes))
        return 0;
    int lowest = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536
                     ? (int)limit.rlim_cur - 1
                     : 65535;
    inside->descriptor = exec_lanes_keep(inside->lanes, lowest, error);
    if (inside->descriptor < 0)
        return error->code;
    return process_hide(inside->process, inside->descriptor, error);
}

/* --- the command's operations -------------------------------------------------------------------
 */

static void set_region(struct exec_inside *inside)
{
    uint64_t from, until;
    inside->callbacks->places(inside->context, &from, &until);
    process_set_region(inside->process, from, until);
}

static void loaded(void *context, const struct modules *modules)
{
    struct exec_inside *inside = context;
    if (inside->detached)
        return;
    inside->callbacks->loaded(inside->context, modules);
    set_region(inside);
}

static void notice(void *context, const char *what)
{
    const struct exec_inside *inside = context;
    inside->callbacks->notice(inside->context, what);
}

static void translated(void *context, unsigned processor, const struct block *block)
{
    const struct exec_inside *inside = context;
    inside->callbacks->translated(inside->context, processor, block);
}

static void signalled(void *context, unsigned processor, const struct signal_report *signal)
{
    const struct exec_inside *inside = context;
    inside->callbacks->signalled(inside->context, processor, signal);
}

static void called(void *context, unsigned processor, const struct system_call *call, bool returned)
{
    const struct exec_inside *inside = context;
    inside->callbacks->called(inside->context, processor, call, returned);
}

/* --- begin and end of the process --------------------------------------------------------------
 */

static void ended(struct exec_inside *inside)
{
    if (!inside->detached)
        inside->callbacks->ended(inside->context, process_has_opened(inside->process));
    end_rings(inside);
}

static const struct process_operations usual = {.put = put,
                                                .gap = note_gap,
                                                .event = note_event,
                                                .thread_ended = end_thread,
                                                .forked = forked,
                                                .execute = execute,
                                                .check = check,
                                                .execute_failed = execute_failed,
                                                .loaded = loaded,
                                                .notice = notice};

static struct process_operations operations_of(const struct exec_inside *inside)
{
    struct process_operations operations = usual;
    if (!inside->filters) /* records are filtered in this process */
        operations.take = take;
    if (!inside->filters && !inside->has_regions)
        operations.count = count;
    if (inside->orders->debug & EXEC_DEBUG_BLOCKS)
        operations.translated = translated;
    if (inside->orders->debug & EXEC_DEBUG_SIGNALS)
        operations.signalled = signalled;
    if (inside->orders->debug & EXEC_DEBUG_SYSTEM_CALLS)
        operations.called = called;
    return operations;
}

static int load(struct exec_inside *inside, const struct exec_program *program,
                struct bt_error *error)
{
    const struct exec_orders *orders = inside->orders;
    uint64_t from, until;
    if (inside->callbacks->begin(inside->context, program, orders, error) < 0)
        return error->code;
    inside->callbacks->places(inside->context, &from, &until);
    inside->operations = operations_of(inside);
    const bool fetches = orders->only_fetch && !orders->repetitions; /* else data count them */
    const struct process_settings settings = {.trace =
                                                  fetches ? EXEC_TRACE_FETCHES : EXEC_TRACE_ALL,
                                              .regions = {.from = from,
                                                          .skip = orders->skip,
                                                          .limit = orders->limit,
                                                          .until = until,
                                                          .on = orders->on,
                                                          .off = orders->off,
                                                          .repeats = orders->repeats,
                                                          .calls = orders->calls,
                                                          .markers = orders->markers,
                                                          .ends = orders->ends},
                                              .file = program->file,
                                              .quantum = orders->quantum,
                                              .numbers = orders->numbers,
                                              .repetitions = orders->repetitions,
                                              .stores = !orders->no_cache,
                                              .stack = {.environment = program->environment},
                                              .operations = &inside->operations,
                                              .context = inside};
    inside->process = process_new(program->path, program->arguments, &settings, error);
    if (!inside->process || inside->callbacks->check(inside->context, inside->process, error) < 0)
        return error->code;
    return keep_descriptor(inside, error);
}

static void free_inside(struct exec_inside *inside)
{
    process_free(inside->process);
    inside->callbacks->end(inside->context);
    expression_free(inside->expression);
    free(inside);
}

/* 0, or a negative code: an expression with times in seconds, which programs have not. */
static int parse_filter(struct exec_inside *inside, struct bt_error *error)
{
    if (!inside->orders->filter[0])
        return 0;
    int result = expression_parse(&inside->expression, inside->orders->filter, NULL, error);
    return result < 0 ? result : expression_clock(inside->expression, 0, error);
}

/* Whether the number of instructions decides what is captured, or where. */
static bool has_regions(const struct exec_orders *orders)
{
    return orders->from[0] || orders->until[0] || orders->skip || orders->limit || orders->on ||
           orders->off || orders->repeats || orders->calls || orders->markers;
}

struct exec_inside *exec_inside_new(struct exec_lanes *lanes, int lane,
                                    const struct exec_program *program, struct bt_error *error)
{
    struct exec_inside *inside = calloc(1, sizeof *inside);
    if (!inside) {
        bt_fail(error, BT_MEMORY, "no memory for a program");
        return NULL;
    }
    inside->lanes = lanes;
    inside->orders = exec_lanes_orders(lanes);
    inside->path = program->path;
    inside->filters = inside->orders->code[0] || inside->orders->only_data ||
                      inside->orders->filter[0] ||
                      (inside->orders->only_fetch && inside->orders->repetitions);
    inside->has_regions = has_regions(inside->orders);
    inside->callbacks = program->callbacks;
    inside->context = program->context;
    snprintf(inside->user.command, sizeof inside->user.command, "%s", program->command);
    if (parse_filter(inside, error) < 0 || load(inside, program, error) < 0) {
        free_inside(inside);
        return NULL;
    }
    inside->user.alive = alive_process(getpid());
    if (lane >= 0)
        begin_ring(inside, 0, lane);
    return inside;
}

_Noreturn void exec_inside_run(struct exec_inside *inside)
{
    struct process_end end;
    struct bt_error error;
    const char *slash = strrchr(inside->path, '/');
    prctl(PR_SET_NAME, slash ? slash + 1 : inside->path); /* as `ps` shows it */
    standard_streams_let_go();
    if (process_run(inside->process, &end, &error) < 0) {
        inside->callbacks->failed(inside->context, &error);
        end = (struct process_end){.ending = PROCESS_EXITED,
                                   .value = bt_exit_status(error.code),
                                   .is_child = end.is_child};
    }
    const char *refusal = process_store_refusal(inside->process);
    if (refusal && !inside->orders->quiet)
        exec_lanes_note(inside->lanes, "%s", refusal);
    ended(inside);
    if (!end.is_child) {
        int status = inside->callbacks->finish(inside->context);
        if (end.ending == PROCESS_EXITED && end.value == 0)
            end.value = status;
    }
    process_exit(&end);
}

/* A parsed `call` argument. */
struct follow_call {
    int descriptor, file;
    long process;
    char what;
    uint64_t limits[PROCESS_LIMITS];
    char path[32]; /* opens the file */
};

static bool read_call(struct follow_call *call, const char *text)
{
    uint64_t *limits = call->limits;
    if (sscanf(text, CALL_FORM, &call->descriptor, &call->file, &call->process, &call->what,
               &limits[0], &limits[1], &limits[2], &limits[3]) != CALL_FIELDS)
        return false;
    fcntl(call->descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(call->file, F_SETFD, FD_CLOEXEC);
    snprintf(call->path, sizeof call->path, "/proc/self/fd/%d", call->file);
    return true;
}

_Noreturn static void go_uncaptured(struct exec_lanes *lanes, const struct exec_program *program,
                                    const struct bt_error *error)
{
    exec_lanes_miss(lanes);
    exec_lanes_note(lanes, "not captured: %s", error->message);
    standard_streams_let_go();
    execve(program->path, (char *const *)program->arguments, (char *const *)program->environment);
    _exit(bt_exit_status(BT_IO));
}

_Noreturn void exec_inside_main(const char *text, const struct exec_program *followed)
{
    struct bt_error error;
    struct follow_call call;
    struct exec_program program = *followed;
    if (!read_call(&call, text))
        _exit(bt_exit_status(BT_USAGE));
    program.file = call.path;
    program.follows = true;
    struct exec_lanes *lanes = exec_lanes_join(call.descriptor, &error);
    if (!lanes)
        _exit(bt_exit_status(BT_IO));
    struct exec_inside *inside = exec_inside_new(lanes, -1, &program, &error);
    if (call.what == CHECKS) {
        if (!inside) {
            exec_lanes_miss(lanes);
            exec_lanes_note(lanes, "not captured: %s", error.message);
        }
        _exit(inside ? CAN_BE_CAPTURED : IS_REPORTED);
    }
    if (call.process >= 0)
        exec_lanes_end_process(lanes, (uint32_t)call.process);
    if (inside) {
        close(call.file);
        process_set_limits(inside->process, call.limits);
        begin_process(inside);
        exec_inside_run(inside);
    }
    go_uncaptured(lanes, &program, &error);
}
