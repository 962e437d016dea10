#define _GNU_SOURCE /* SOCK_CLOEXEC, prctl */
#include "tools/exec_child.h"

#include "capture/exec/process.h"
#include "tools/commands.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXEC_CHILD_PATH_BYTES 4096

/* In the child. */
struct run {
    const struct exec_settings *settings;
    struct record_ring *ring;
    bool detached; /* nobody takes records of this process */
    uint32_t time; /* of fetches that were left out */
    struct process *process;
    struct exec_symbol from, until;
    char modules[EXEC_CHILD_PATH_BYTES]; /* empty: nobody wants to know */
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

static int put(void *context, struct record *records, size_t count)
{
    struct run *run = context;
    if (run->detached)
        return 0;
    if (run->settings->only_data)
        count = only_data(records, count, &run->time);
    return record_ring_put(run->ring, records, count);
}

static void forked(void *context)
{
    struct run *run = context;
    run->detached = true;
    process_close(run->process);
}

/* --- places and files of the program -----------------------------------------------------------
 */

static uint64_t place_of(const struct exec_symbol *symbol)
{
    return symbol->address ? symbol->address : symbol->text ? PROCESS_SOMEWHERE : 0;
}

/* Each time anew: nobody knows how the program will end. */
static void write_modules(const char *path, const struct modules *modules)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return;
    modules_write(modules, file);
    fclose(file);
}

static void loaded(void *context, const struct modules *modules)
{
    struct run *run = context;
    if (run->detached)
        return;
    exec_symbol_look(&run->from, modules);
    exec_symbol_look(&run->until, modules);
    process_place(run->process, place_of(&run->from), place_of(&run->until));
    if (run->modules[0])
        write_modules(run->modules, modules);
}

/* A program that loads no libraries has all its functions from the beginning. */
static int check_symbols(struct run *run, const char *path, struct bt_error *error)
{
    const struct modules *modules = process_modules(run->process);
    const struct exec_symbol *missing = NULL;
    if (!exec_symbol_look(&run->from, modules) && run->from.text)
        missing = &run->from;
    if (!exec_symbol_look(&run->until, modules) && run->until.text)
        missing = &run->until;
    if (missing && modules_count(modules) == 1)
        return bt_fail(error, BT_USAGE, "there is no function %.200s in %.200s", missing->name,
                       path);
    return 0;
}

/* The program may go to another folder. */
static int check_modules_file(struct run *run, struct bt_error *error)
{
    char folder[sizeof run->modules];
    const char *path = run->settings->modules;
    if (!path)
        return 0;
    FILE *file = fopen(path, "we");
    if (!file)
        return bt_fail_errno(error, "cannot write %s", path);
    fclose(file);
    bool absolute = path[0] == '/';
    if (!absolute && !getcwd(folder, sizeof folder))
        return bt_fail_errno(error, "cannot find the current folder");
    int bytes = snprintf(run->modules, sizeof run->modules, "%s%s%s", absolute ? "" : folder,
                         absolute ? "" : "/", path);
    if (bytes < 0 || (size_t)bytes >= sizeof run->modules)
        return bt_fail(error, BT_USAGE, "the name %.60s... is too long", path);
    return 0;
}

/* What was asked for never happened. */
static void tell_closed(const struct run *run)
{
    const struct exec_symbol *from = &run->from;
    if (run->detached || run->settings->quiet || process_has_opened(run->process))
        return;
    if (from->text && !from->address)
        fprintf(stderr, "bustap: no file that the program loaded has a function %s\n", from->name);
    else if (from->text)
        fprintf(stderr, "bustap: the program never came to %s\n", from->text);
    else
        fputs("bustap: the program has ended before as many instructions as --skip says\n", stderr);
}

/* --- the child's life --------------------------------------------------------------------------
 */

static bool receive(int talk, void *bytes, size_t size)
{
    ssize_t got;
    do
        got = recv(talk, bytes, size, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

static int load(const char *path, struct run *run, struct bt_error *error)
{
    const struct exec_settings *settings = run->settings;
    const struct process_settings own = {
        .trace = settings->only_fetch ? EXEC_TRACE_FETCHES : EXEC_TRACE_ALL,
        .window = {place_of(&settings->from), settings->skip, settings->limit,
                   place_of(&settings->until), settings->ends},
        .start = {.environment = settings->environment},
        .put = put,
        .put_context = run,
        .forked = forked,
        .forked_context = run,
        .loaded = loaded,
        .loaded_context = run};
    run->from = settings->from;
    run->until = settings->until;
    if (check_modules_file(run, error) < 0)
        return error->code;
    run->process = process_new(path, settings->arguments, &own, error);
    return run->process ? check_symbols(run, path, error) : error->code;
}

_Noreturn static void live(const char *path, struct run *run, int talk, const sigset_t *mask)
{
    struct bt_error error = {0};
    struct process_end end;
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would take its records */
    command_ignore_no_more();
    int result = load(path, run, &error);
    if (send(talk, &error, sizeof error, MSG_NOSIGNAL) < 0 || result < 0 ||
        !receive(talk, &go, sizeof go))
        _exit(STATUS_USAGE);
    close(talk);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (process_run(run->process, &end, &error) < 0) {
        fprintf(stderr, "bustap: %s: %s\n", path, error.message);
        end = (struct process_end){PROCESS_EXITED, bt_exit_status(error.code), end.is_child};
    }
    tell_closed(run);
    process_exit(&end);
}

/* --- seen from its parent ----------------------------------------------------------------------
 */

static void wait_for(pid_t process)
{
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int exec_child_new(struct exec_child *child, const char *path, const struct exec_settings *settings,
                   struct record_ring *ring, const sigset_t *mask, struct bt_error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return bt_fail_errno(error, "cannot speak to a program");
    fflush(NULL);
    child->process = fork();
    if (child->process == 0) {
        struct run run = {.settings = settings, .ring = ring};
        close(ends[0]);
        live(path, &run, ends[1], mask);
    }
    close(ends[1]);
    child->talk = ends[0];
    if (child->process < 0) {
        close(ends[0]);
        return bt_fail_errno(error, "cannot begin a process");
    }
    struct bt_error answer;
    if (!receive(child->talk, &answer, sizeof answer))
        bt_fail(&answer, BT_MEMORY, "%s could not be loaded", path);
    if (answer.code == 0)
        return 0;
    *error = answer;
    exec_child_abandon(child);
    return answer.code;
}

void exec_child_go(struct exec_child *child)
{
    send(child->talk, "", 1, MSG_NOSIGNAL);
    close(child->talk);
    child->talk = -1;
}

void exec_child_abandon(struct exec_child *child)
{
    close(child->talk);
    child->talk = -1;
    wait_for(child->process);
}
