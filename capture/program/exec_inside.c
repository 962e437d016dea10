#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, "e" */
#include "capture/program/exec_inside.h"

#include "capture/exec/kernel/execute_probe.h"
#include "capture/exec/kernel/process.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "tools/common/command.h"
#include "tools/common/own_stream.h"
#include "tools/common/words.h"
#include "tools/exec/exec_code.h"
#include "tools/exec/exec_debug.h"
#include "tools/exec/exec_program.h"
#include "tools/symbols/exec_symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS     256u /* that a record can tell apart */
#define CALL_TEXT   80
#define CALL_FORM   "%d,%d,%ld,%c"
#define CALL_FIELDS 4
#define CLAIM_NS    5000000 /* between looks for a free lane */

/* What the other bustap is to do, in CALL_FORM: with which descriptors of lanes and of the
 * program's file; which process has executed it, by its number, or -1: a child in its parent's
 * memory; and what. */
enum { EXECUTES = 'x', CHECKS = 'c' };

/* How it ends that checks; otherwise, it could not begin. */
enum { CAN_BE_CAPTURED = 0, IS_TOLD = 1 };

extern char **environ;

struct exec_inside {
    struct exec_lanes *lanes;
    const struct exec_orders *orders;
    struct exec_user user;
    struct record_ring *rings[THREADS]; /* by thread; without `each` the first one alone */
    bool takes_out;                     /* records that are not wanted: */
    uint32_t times[THREADS];            /* of those of a ring, since the last one that is; */
    bool elsewhere[THREADS];            /* the thread's instruction is not in `code` */
    struct exec_code code;
    bool gaps[THREADS]; /* before the next record, unless it is the first: */
    bool any[THREADS];  /* there are earlier ones in the ring */
    bool detached;      /* nobody takes records of this process */
    bool follows;
    int descriptor; /* of the lanes, for programs that are followed; -1 */
    char call[CALL_TEXT];
    int file; /* of a program that is about to be executed */
    struct process *process;
    struct process_operations operations;
    struct exec_symbol from, until;
    const char *path;
    char modules[EXEC_PROGRAM_BYTES]; /* empty: nobody wants to know */
    size_t modules_written;           /* so many, */
    int modules_failure;              /* or why they could not be; 0: they were */
    FILE *debug;                      /* for exec_debug.h; NULL: nothing is printed */
    FILE *messages; /* standard error, out of the program's reach; NULL: it is closed */
};

/* --- records -----------------------------------------------------------------------------------
 */

/* Whether a record is wanted. Reads and writes are the last instruction's. */
static bool is_wanted(struct exec_inside *inside, unsigned thread, const struct record *record)
{
    const struct exec_orders *orders = inside->orders;
    if (orders->code[0]) {
        if (record->type == REQUEST_FETCH)
            inside->elsewhere[thread] = !exec_code_has(&inside->code, record->address);
        if (inside->elsewhere[thread])
            return false;
    }
    return !(orders->only_data && record->type == REQUEST_FETCH) &&
           (!orders->filters || filter_match(&orders->filter, record));
}

/* Takes out what is not wanted; the next record of the ring has its time. */
static size_t take_out(struct exec_inside *inside, unsigned ring, struct record *records,
                       size_t count)
{
    uint32_t *time = &inside->times[ring];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record record = records[i];
        *time = record.time < UINT32_MAX - *time ? *time + record.time : UINT32_MAX;
        if (!is_wanted(inside, record.processor, &record))
            continue;
        records[kept] = record;
        records[kept++].time = *time;
        *time = 0;
    }
    return kept;
}

/* Lanes of users that have ended are free as soon as their records have been taken: then one is
 * waited for. -1: all users are there. */
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

/* More threads at the same time than there are lanes share the first one's. */
static struct record_ring *ring_of(struct exec_inside *inside, unsigned thread)
{
    if (inside->rings[thread])
        return inside->rings[thread];
    inside->user.thread = thread;
    int lane = claim(inside);
    inside->rings[thread] = lane < 0 ? inside->rings[0] : exec_lanes_ring(inside->lanes, lane);
    return inside->rings[thread];
}

static int put_thread(struct exec_inside *inside, unsigned thread, struct record *records,
                      size_t count)
{
    struct record_ring *ring = ring_of(inside, thread);
    if (inside->takes_out) {
        size_t kept = take_out(inside, thread, records, count);
        record_ring_add_filtered(ring, count - kept);
        count = kept;
    }
    if (count == 0)
        return 0;
    if (inside->gaps[thread] && inside->any[thread])
        record_ring_begin_part(ring, records);
    inside->gaps[thread] = false;
    inside->any[thread] = true;
    return record_ring_put(ring, records, count, exec_lanes_taken, inside->lanes);
}

/* Regions have begun: of one thread, or (-1) of all. */
static void note_gap(void *context, int processor)
{
    struct exec_inside *inside = context;
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

/* The process, or its program, is about to end. */
static void tell_switches(const struct exec_inside *inside)
{
    if (!inside->detached)
        exec_lanes_set_switches(inside->lanes, inside->user.process,
                                process_switches(inside->process));
}

static void end_rings(struct exec_inside *inside)
{
    tell_switches(inside);
    for (unsigned i = 0; i < THREADS && !inside->detached; i++)
        if (inside->rings[i])
            record_ring_end(inside->rings[i]);
    memset(inside->rings, 0, sizeof inside->rings);
}

/* A lane for a process that begins. */
static void begin_process(struct exec_inside *inside)
{
    inside->user.alive = alive_process(getpid());
    inside->user.process = exec_lanes_count_process(inside->lanes);
    inside->user.thread = 0;
    memset(inside->rings, 0, sizeof inside->rings);
    memset(inside->any, 0, sizeof inside->any);
    memset(inside->times, 0, sizeof inside->times);
    int lane = claim(inside);
    inside->detached = lane < 0;
    if (lane >= 0) {
        inside->rings[0] = exec_lanes_ring(inside->lanes, lane);
        return;
    }
    exec_lanes_miss(inside->lanes);
    exec_lanes_note(inside->lanes, "process %ld (%s) is not captured: there are %u others already",
                    (long)inside->user.alive.number, inside->user.command, EXEC_LANES);
}

/* --- children and programs that come later -----------------------------------------------------
 */

static void forked(void *context, bool shares_files)
{
    (void)shares_files;
    struct exec_inside *inside = context;
    bool was_detached = inside->detached;
    inside->detached = true;
    if (inside->follows && !was_detached)
        begin_process(inside);
    if (inside->detached)
        process_close_regions(inside->process);
}

static void miss(struct exec_inside *inside, const char *path, const char *why)
{
    exec_lanes_miss(inside->lanes);
    exec_lanes_note(inside->lanes, "not captured: %.300s: %s", path, why);
}

/* Without --follow. */
static void tell_executing(void *context, const char *path)
{
    struct exec_inside *inside = context;
    tell_switches(inside);
    if (!inside->detached)
        exec_lanes_note(
            inside->lanes,
            "the program executes %.300s in its place, which is not captured without --follow",
            path);
}

static void write_call(struct exec_inside *inside, const struct process_execution *execution,
                       int what)
{
    snprintf(inside->call, sizeof inside->call, CALL_FORM, inside->descriptor, inside->file,
             execution->is_child || inside->detached ? -1L : (long)inside->user.process, what);
}

static size_t execute(void *context, const struct process_execution *execution,
                      const char **leading)
{
    struct exec_inside *inside = context;
    inside->file = execution->file;
    tell_switches(inside);
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

/* Another bustap loads the program, and ends. */
static bool check(void *context, const struct process_execution *execution, char *const *arguments,
                  char *const *environment)
{
    struct exec_inside *inside = context;
    const int inherited[2] = {inside->descriptor, inside->file};
    write_call(inside, execution, CHECKS);
    int status = execute_and_wait(PROCESS_OWN_PATH, arguments, environment, inherited);
    if (WIFEXITED(status) && WEXITSTATUS(status) == IS_TOLD)
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

/* Where the program does not look for it, nor close it. */
static int keep_descriptor(struct exec_inside *inside, struct bt_error *error)
{
    struct rlimit limit;
    int lowest = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536
                     ? (int)limit.rlim_cur - 1
                     : 65535;
    inside->descriptor = -1;
    if (!inside->follows)
        return 0;
    inside->descriptor = exec_lanes_keep(inside->lanes, lowest, error);
    if (inside->descriptor < 0)
        return error->code;
    return process_hide(inside->process, inside->descriptor, error);
}

/* --- places and files of the program -----------------------------------------------------------
 */

static uint64_t place_of(const struct exec_symbol *symbol)
{
    return symbol->address ? symbol->address : symbol->text ? PROCESS_ADDRESS_UNKNOWN : 0;
}

/* Whenever there are more: nobody knows how the program will end. Returns 0 or what went wrong. */
static int write_modules(const char *path, const struct modules *modules)
{
    errno = 0;
    FILE *file = fopen(path, "we");
    if (!file)
        return errno;
    modules_write(modules, file);
    bool failed = ferror(file); /* what is left may be written after all */
    if (fclose(file) == 0 && !failed)
        return 0;
    return errno ? errno : EIO;
}

static void loaded(void *context, const struct modules *modules)
{
    struct exec_inside *inside = context;
    if (inside->detached)
        return;
    exec_symbol_look(&inside->from, modules);
    exec_symbol_look(&inside->until, modules);
    exec_code_look(&inside->code, modules);
    process_set_region(inside->process, place_of(&inside->from), place_of(&inside->until));
    const size_t count = modules_count(modules);
    if (inside->modules[0] && count != inside->modules_written) {
        inside->modules_failure = write_modules(inside->modules, modules);
        inside->modules_written = inside->modules_failure ? 0 : count;
    }
}

static int parse_places(struct exec_inside *inside, struct bt_error *error)
{
    const struct exec_orders *orders = inside->orders;
    if (orders->from[0] && exec_symbol_parse(&inside->from, orders->from, error) < 0)
        return error->code;
    if (orders->until[0] && exec_symbol_parse(&inside->until, orders->until, error) < 0)
        return error->code;
    if (orders->code[0] && exec_code_parse(&inside->code, orders->code, error) < 0)
        return error->code;
    inside->takes_out = orders->code[0] || orders->only_data || orders->filters;
    return 0;
}

/* A program that loads no libraries has all its functions from the beginning. */
static int check_places(struct exec_inside *inside, struct bt_error *error)
{
    const struct modules *modules = process_modules(inside->process);
    const struct exec_symbol *missing = NULL;
    if (!exec_symbol_look(&inside->from, modules) && inside->from.text)
        missing = &inside->from;
    if (!exec_symbol_look(&inside->until, modules) && inside->until.text)
        missing = &inside->until;
    if (missing && modules_count(modules) == 1 && !inside->follows)
        return bt_fail(error, BT_USAGE, "there is no function %.100s in %.100s%s%.200s",
                       missing->name, inside->path, missing->refused ? "; " : "",
                       missing->refused ? missing->refused : "");
    return 0;
}

static void tell_missing(const struct exec_inside *inside, const struct exec_symbol *symbol)
{
    own_stream_say(inside->messages, "no file that the program loaded has a function %s",
                   PRINTABLE(symbol->name));
    if (symbol->refused)
        own_stream_say(inside->messages, "%s", PRINTABLE(symbol->refused));
}

/* What was asked for never happened. */
static void tell_closed(const struct exec_inside *inside)
{
    const struct exec_symbol *from = &inside->from, *until = &inside->until;
    const struct exec_code *code = &inside->code;
    FILE *messages = inside->messages;
    if (inside->detached)
        return;
    if (until->text && !until->address)
        tell_missing(inside, until);
    if (code->function.text && code->count == 0)
        tell_missing(inside, &code->function);
    else if (code->module && code->count == 0)
        own_stream_say(messages, "the program loaded no file %s", PRINTABLE(code->module));
    if (process_has_opened(inside->process))
        return;
    if (from->text && !from->address)
        tell_missing(inside, from);
    else if (from->text)
        own_stream_say(messages, "the program never came to %s", PRINTABLE(from->text));
    else if (inside->orders->markers)
        own_stream_say(messages, "the program never came to BUSTAP_BEGIN of bustap/mark.h");
    else
        own_stream_say(messages,
                       "the program has ended before as many instructions as --skip says");
}

/* --- its life ----------------------------------------------------------------------------------
 */

static void ended(struct exec_inside *inside)
{
    tell_closed(inside);
    end_rings(inside);
}

static void notice(void *context, const char *what)
{
    own_stream_notice(((struct exec_inside *)context)->messages, what);
}

static const struct process_operations alone = {.put = put,
                                                .gap = note_gap,
                                                .forked = forked,
                                                .executing = tell_executing,
                                                .loaded = loaded,
                                                .notice = notice};

static const struct process_operations following = {.put = put,
                                                    .gap = note_gap,
                                                    .forked = forked,
                                                    .execute = execute,
                                                    .check = check,
                                                    .execute_failed = execute_failed,
                                                    .loaded = loaded,
                                                    .notice = notice};

/* --- debugging ---------------------------------------------------------------------------------
 */

static void print_block(void *context, unsigned processor, const struct block *block)
{
    exec_debug_block(((struct exec_inside *)context)->debug, processor, block);
}

static void print_signal(void *context, unsigned processor, const struct signal_report *signal)
{
    exec_debug_signal(((struct exec_inside *)context)->debug, processor, signal);
}

static void print_call(void *context, unsigned processor, const struct system_call *call,
                       bool returned)
{
    exec_debug_call(((struct exec_inside *)context)->debug, processor, call, returned);
}

static int prepare_debug(struct exec_inside *inside, struct process_operations *operations,
                         struct bt_error *error)
{
    const struct exec_orders *orders = inside->orders;
    if (orders->debug & EXEC_DEBUG_BLOCKS)
        operations->translated = print_block;
    if (orders->debug & EXEC_DEBUG_SIGNALS)
        operations->signalled = print_signal;
    if (orders->debug & EXEC_DEBUG_SYSTEM_CALLS)
        operations->called = print_call;
    if (!orders->debug_file[0])
        inside->debug = inside->messages;
    else if (!(inside->debug = exec_debug_open(orders->debug_file, error)))
        return error->code;
    return 0;
}

static int hide(struct exec_inside *inside, FILE *stream, struct bt_error *error)
{
    return stream ? process_hide(inside->process, fileno(stream), error) : 0;
}

static int load(struct exec_inside *inside, const struct exec_program *program,
                struct bt_error *error)
{
    const struct exec_orders *orders = inside->orders;
    struct bt_error unheard; /* there may be no standard error */
    if (parse_places(inside, error) < 0 ||
        (program->modules && exec_program_absolute(inside->modules, program->modules, error) < 0))
        return error->code;
    inside->messages = own_stream_on(STDERR_FILENO, &unheard);
    inside->operations = inside->follows ? following : alone;
    if (prepare_debug(inside, &inside->operations, error) < 0)
        return error->code;
    const struct process_settings settings = {.trace = orders->only_fetch ? EXEC_TRACE_FETCHES
                                                                          : EXEC_TRACE_ALL,
                                              .regions = {.from = place_of(&inside->from),
                                                          .skip = orders->skip,
                                                          .limit = orders->limit,
                                                          .until = place_of(&inside->until),
                                                          .on = orders->on,
                                                          .off = orders->off,
                                                          .repeats = orders->repeats,
                                                          .calls = orders->calls,
                                                          .markers = orders->markers,
                                                          .ends = orders->ends},
                                              .file = program->file,
                                              .quantum = orders->quantum,
                                              .stack = {.environment = program->environment},
                                              .operations = &inside->operations,
                                              .context = inside};
    inside->process = process_new(program->path, program->arguments, &settings, error);
    if (!inside->process || check_places(inside, error) < 0)
        return error->code;
    if (hide(inside, inside->messages, error) < 0 ||
        (inside->debug != inside->messages && hide(inside, inside->debug, error) < 0))
        return error->code;
    return keep_descriptor(inside, error);
}

/* Of one that did not come about. */
static void free_inside(struct exec_inside *inside)
{
    process_free(inside->process);
    if (inside->debug && inside->debug != inside->messages)
        fclose(inside->debug);
    if (inside->messages)
        fclose(inside->messages);
    exec_symbol_clear(&inside->from);
    exec_symbol_clear(&inside->until);
    exec_code_clear(&inside->code);
    free(inside);
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
    inside->follows = program->follows;
    words_command(inside->user.command, sizeof inside->user.command, program->arguments);
    if (load(inside, program, error) < 0) {
        free_inside(inside);
        return NULL;
    }
    inside->user.alive = alive_process(getpid());
    if (lane >= 0)
        inside->rings[0] = exec_lanes_ring(lanes, lane);
    return inside;
}

_Noreturn void exec_inside_run(struct exec_inside *inside)
{
    struct process_end end;
    struct bt_error error;
    prctl(PR_SET_NAME, words_file_name(inside->path)); /* as `ps` shows it */
    standard_streams_let_go();
    if (process_run(inside->process, &end, &error) < 0) {
        own_stream_say(inside->messages, "%s: %s", PRINTABLE(inside->path), error.message);
        end = (struct process_end){.ending = PROCESS_EXITED,
                                   .value = bt_exit_status(error.code),
                                   .is_child = end.is_child};
    }
    ended(inside);
    if (inside->modules_failure && !end.is_child) {
        own_stream_say(inside->messages, "cannot write %s: %s", PRINTABLE(inside->modules),
                       strerror(inside->modules_failure));
        if (end.ending == PROCESS_EXITED && end.value == 0)
            end.value = STATUS_IO;
    }
    process_exit(&end);
}

/* What EXEC_INSIDE is followed by. */
struct call {
    int descriptor, file;
    long process;
    char what;
    char path[32]; /* of the file */
};

static bool read_call(struct call *call, const char *text)
{
    if (sscanf(text, CALL_FORM, &call->descriptor, &call->file, &call->process, &call->what) !=
        CALL_FIELDS)
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
    _exit(STATUS_IO);
}

_Noreturn void exec_inside_main(int count, char **arguments)
{
    struct bt_error error;
    struct call call;
    if (count < 4 || !read_call(&call, arguments[1]))
        _exit(STATUS_USAGE);
    command_restore_signals();
    const struct exec_program program = {.path = arguments[2],
                                         .file = call.path,
                                         .arguments = (const char *const *)arguments + 3,
                                         .environment = (const char *const *)environ,
                                         .follows = true};
    struct exec_lanes *lanes = exec_lanes_join(call.descriptor, &error);
    if (!lanes)
        _exit(STATUS_IO);
    struct exec_inside *inside = exec_inside_new(lanes, -1, &program, &error);
    if (call.what == CHECKS) {
        if (!inside) {
            exec_lanes_miss(lanes);
            exec_lanes_note(lanes, "not captured: %s", error.message);
        }
        _exit(inside ? CAN_BE_CAPTURED : IS_TOLD);
    }
    if (call.process >= 0)
        exec_lanes_end_process(lanes, (uint32_t)call.process);
    if (inside) {
        close(call.file);
        begin_process(inside);
        exec_inside_run(inside);
    }
    go_uncaptured(lanes, &program, &error);
}
