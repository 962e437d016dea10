#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, "e" */
#include "tools/exec_inside.h"

#include "capture/exec/process.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "tools/commands.h"
#include "tools/exec_program.h"
#include "tools/exec_symbol.h"
#include "tools/own_stream.h"
#include "tools/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS     256u /* that a record can tell apart */
#define PATH_BYTES  4096
#define NUMBER_TEXT 16

extern char **environ;

struct exec_inside {
    struct exec_lanes *lanes;
    const struct exec_orders *orders;
    struct exec_user user;
    struct record_ring *rings[THREADS]; /* by thread; without `each` the first one alone */
    uint32_t times[THREADS];            /* of fetches that were left out */
    bool detached;                      /* nobody takes records of this process */
    bool follows;
    int descriptor; /* of the lanes, for programs that are followed; -1 */
    char descriptor_text[NUMBER_TEXT];
    struct process *process;
    struct exec_symbol from, until;
    const char *path;
    char modules[PATH_BYTES]; /* empty: nobody wants to know */
    int modules_failure;      /* why they could not be written; 0: they were */
    FILE *messages;           /* standard error, out of the program's reach; NULL: it is closed */
};

/* --- records -----------------------------------------------------------------------------------
 */

/* Takes the fetches out; the next record has their time. */
static size_t only_data(struct record *records, size_t count, uint32_t *time)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].type == REQUEST_FETCH) {
            *time += *time < UINT32_MAX ? records[i].time : 0;
            continue;
        }
        records[kept] = records[i];
        records[kept++].time = *time;
        *time = 0;
    }
    return kept;
}

/* More threads at the same time than there are lanes share the first one's. */
static struct record_ring *ring_of(struct exec_inside *inside, unsigned thread)
{
    if (inside->rings[thread])
        return inside->rings[thread];
    inside->user.thread = thread;
    int lane = exec_lanes_claim(inside->lanes, &inside->user);
    inside->rings[thread] = lane < 0 ? inside->rings[0] : exec_lanes_ring(inside->lanes, lane);
    return inside->rings[thread];
}

static int put_thread(struct exec_inside *inside, unsigned thread, struct record *records,
                      size_t count)
{
    struct record_ring *ring = ring_of(inside, thread);
    if (inside->orders->only_data)
        count = only_data(records, count, &inside->times[thread]);
    return record_ring_put(ring, records, count);
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

static void end_rings(struct exec_inside *inside)
{
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
    int lane = exec_lanes_claim(inside->lanes, &inside->user);
    inside->detached = lane < 0;
    if (lane >= 0) {
        inside->rings[0] = exec_lanes_ring(inside->lanes, lane);
        return;
    }
    exec_lanes_miss(inside->lanes);
    fprintf(stderr, "bustap: process %ld is not captured: there are %u others already\n",
            (long)inside->user.alive.number, EXEC_LANES);
}

/* --- children and programs that come later -----------------------------------------------------
 */

static void forked(void *context)
{
    struct exec_inside *inside = context;
    bool was_detached = inside->detached;
    inside->detached = true;
    if (inside->follows && !was_detached)
        begin_process(inside);
    if (inside->detached)
        process_close(inside->process);
}

/* Whether it can be expected to run here: an ELF file or a script, with our own rights. */
static bool can_follow(const char *path)
{
    char found[EXEC_PROGRAM_BYTES];
    struct bt_error error;
    char head[4] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_read = file >= 0 && read(file, head, sizeof head) > 2;
    if (file >= 0)
        close(file);
    return is_read && (memcmp(head, "\177ELF", 4) == 0 || memcmp(head, "#!", 2) == 0) &&
           strchr(path, '/') && exec_program_find(found, path, &error) == 0;
}

static size_t execute(void *context, const char *path, bool is_child, const char **leading)
{
    struct exec_inside *inside = context;
    if (inside->descriptor < 0 || !can_follow(path))
        return 0;
    fcntl(inside->descriptor, F_SETFD, 0);
    if (!is_child)
        end_rings(inside);
    leading[0] = "bustap";
    leading[1] = "exec";
    leading[2] = EXEC_INSIDE;
    leading[3] = inside->descriptor_text;
    leading[4] = path;
    return 5;
}

/* Where the program does not look for it, nor close it. */
static int keep_descriptor(struct exec_inside *inside, struct bt_error *error)
{
    struct rlimit limit;
    int lowest = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536
                     ? (int)limit.rlim_cur - 1
                     : 65535;
    int own = exec_lanes_descriptor(inside->lanes);
    inside->descriptor = -1;
    if (!inside->follows)
        return 0;
    inside->descriptor = own == lowest ? own : fcntl(own, F_DUPFD_CLOEXEC, lowest);
    if (inside->descriptor < 0)
        return bt_fail_errno(error, "no descriptor is left to follow programs with");
    if (own != inside->descriptor)
        close(own);
    fcntl(inside->descriptor, F_SETFD, FD_CLOEXEC);
    snprintf(inside->descriptor_text, sizeof inside->descriptor_text, "%d", inside->descriptor);
    return process_hide(inside->process, inside->descriptor, error);
}

/* --- places and files of the program -----------------------------------------------------------
 */

static uint64_t place_of(const struct exec_symbol *symbol)
{
    return symbol->address ? symbol->address : symbol->text ? PROCESS_SOMEWHERE : 0;
}

/* Each time anew: nobody knows how the program will end. Returns 0 or what went wrong. */
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
    process_place(inside->process, place_of(&inside->from), place_of(&inside->until));
    if (inside->modules[0])
        inside->modules_failure = write_modules(inside->modules, modules);
}

static int parse_places(struct exec_inside *inside, struct bt_error *error)
{
    const struct exec_orders *orders = inside->orders;
    if (orders->from[0] && exec_symbol_parse(&inside->from, orders->from, error) < 0)
        return error->code;
    if (orders->until[0] && exec_symbol_parse(&inside->until, orders->until, error) < 0)
        return error->code;
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

/* The program may go to another folder. */
static int find_modules_file(struct exec_inside *inside, const char *path, struct bt_error *error)
{
    char folder[PATH_BYTES] = "";
    if (!path)
        return 0;
    bool absolute = path[0] == '/';
    if (!absolute && !getcwd(folder, sizeof folder))
        return bt_fail_errno(error, "cannot find the current folder");
    int bytes = snprintf(inside->modules, sizeof inside->modules, "%s%s%s", folder,
                         absolute ? "" : "/", path);
    if (bytes < 0 || (size_t)bytes >= sizeof inside->modules)
        return bt_fail(error, BT_USAGE, "the name %.60s... is too long", path);
    return 0;
}

static void tell_missing(const struct exec_symbol *symbol)
{
    fprintf(stderr, "bustap: no file that the program loaded has a function %s\n",
            PRINTABLE(symbol->name));
    if (symbol->refused)
        fprintf(stderr, "bustap: %s\n", PRINTABLE(symbol->refused));
}

/* What was asked for never happened. */
static void tell_closed(const struct exec_inside *inside)
{
    const struct exec_symbol *from = &inside->from, *until = &inside->until;
    if (inside->detached)
        return;
    if (until->text && !until->address)
        tell_missing(until);
    if (process_has_opened(inside->process))
        return;
    if (from->text && !from->address)
        tell_missing(from);
    else if (from->text)
        fprintf(stderr, "bustap: the program never came to %s\n", PRINTABLE(from->text));
    else
        fputs("bustap: the program has ended before as many instructions as --skip says\n", stderr);
}

/* --- its life ----------------------------------------------------------------------------------
 */

static void ended(void *context, const struct process_end *end)
{
    (void)end;
    tell_closed(context);
    end_rings(context);
}

static int load(struct exec_inside *inside, const struct exec_program *program,
                struct bt_error *error)
{
    const struct exec_orders *orders = inside->orders;
    struct bt_error unheard; /* there may be no standard error */
    if (parse_places(inside, error) < 0 || find_modules_file(inside, program->modules, error) < 0)
        return error->code;
    inside->messages = own_stream_on(STDERR_FILENO, &unheard);
    const struct process_settings settings = {.trace = orders->only_fetch ? EXEC_TRACE_FETCHES
                                                                          : EXEC_TRACE_ALL,
                                              .window = {.from = place_of(&inside->from),
                                                         .skip = orders->skip,
                                                         .limit = orders->limit,
                                                         .until = place_of(&inside->until),
                                                         .ends = orders->ends},
                                              .start = {.environment = program->environment},
                                              .put = put,
                                              .put_context = inside,
                                              .forked = forked,
                                              .ended = ended,
                                              .forked_context = inside,
                                              .execute = inside->follows ? execute : NULL,
                                              .execute_context = inside,
                                              .loaded = loaded,
                                              .loaded_context = inside,
                                              .notice = own_stream_notice,
                                              .notice_context = inside->messages};
    inside->process = process_new(program->path, program->arguments, &settings, error);
    if (!inside->process || check_places(inside, error) < 0)
        return error->code;
    if (inside->messages && process_hide(inside->process, fileno(inside->messages), error) < 0)
        return error->code;
    return keep_descriptor(inside, error);
}

/* Of one that did not come about. */
static void free_inside(struct exec_inside *inside)
{
    process_free(inside->process);
    if (inside->messages)
        fclose(inside->messages);
    exec_symbol_clear(&inside->from);
    exec_symbol_clear(&inside->until);
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
    if (lane < 0) {
        begin_process(inside);
    } else {
        inside->user.alive = alive_process(getpid());
        inside->rings[0] = exec_lanes_ring(lanes, lane);
    }
    return inside;
}

_Noreturn void exec_inside_run(struct exec_inside *inside)
{
    struct process_end end;
    struct bt_error error;
    prctl(PR_SET_NAME, words_file_name(inside->path)); /* as `ps` shows it */
    standard_streams_let_go();
    if (process_run(inside->process, &end, &error) < 0) {
        fprintf(stderr, "bustap: %s: %s\n", PRINTABLE(inside->path), error.message);
        end = (struct process_end){.ending = PROCESS_EXITED,
                                   .value = bt_exit_status(error.code),
                                   .is_child = end.is_child};
    }
    ended(inside, &end);
    if (inside->modules_failure && !end.is_child) {
        fprintf(stderr, "bustap: cannot write %s: %s\n", PRINTABLE(inside->modules),
                strerror(inside->modules_failure));
        if (end.ending == PROCESS_EXITED && end.value == 0)
            end.value = STATUS_IO;
    }
    process_exit(&end);
}

_Noreturn void exec_inside_main(int count, char **arguments)
{
    struct bt_error error = {.message = "bustap itself calls this"};
    struct exec_lanes *lanes = NULL;
    struct exec_inside *inside = NULL;
    if (count < 4)
        _exit(STATUS_USAGE);
    command_ignore_no_more();
    int descriptor = atoi(arguments[1]);
    const struct exec_program program = {.path = arguments[2],
                                         .arguments = (const char *const *)arguments + 3,
                                         .environment = (const char *const *)environ,
                                         .follows = true};
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    lanes = exec_lanes_join(descriptor, &error);
    if (lanes)
        inside = exec_inside_new(lanes, -1, &program, &error);
    if (inside)
        exec_inside_run(inside);
    if (lanes)
        exec_lanes_miss(lanes);
    fprintf(stderr, "bustap: not captured: %s\n", error.message);
    standard_streams_let_go();
    execve(program.path, arguments + 3, environ);
    _exit(STATUS_IO);
}
