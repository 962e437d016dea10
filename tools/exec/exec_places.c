#include "tools/exec/exec_places.h"

#include "formats/base/new_file.h"
#include "formats/base/printable.h"
#include "tools/common/command.h"
#include "tools/common/own_stream.h"
#include "tools/exec/exec_debug.h"
#include "tools/symbols/module_list_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int parse_places(struct exec_places *places, struct bt_error *error)
{
    const struct exec_orders *orders = places->orders;
    if (region_places_parse(&places->region, orders->from, orders->until, error) < 0)
        return error->code;
    if (orders->code[0] && exec_code_parse(&places->code, orders->code, error) < 0)
        return error->code;
    return 0;
}

static int begin(void *context, const struct exec_program *program,
                 const struct exec_orders *orders, struct bt_error *error)
{
    struct exec_places *places = context;
    struct bt_error ignored; /* standard error may be closed */
    command_restore_signals();
    places->path = program->path;
    places->follows = program->follows;
    places->orders = orders;
    if (parse_places(places, error) < 0 ||
        (places->modules_option &&
         exec_program_absolute(places->modules, places->modules_option, error) < 0))
        return error->code;
    places->messages = own_stream_on(STDERR_FILENO, &ignored);
    if (!orders->debug_file[0])
        places->debug = places->messages;
    else if (!(places->debug = exec_debug_open(orders->debug_file, error)))
        return error->code;
    return 0;
}

static void end(void *context)
{
    struct exec_places *places = context;
    if (places->debug && places->debug != places->messages)
        fclose(places->debug);
    if (places->messages)
        fclose(places->messages);
    region_places_clear(&places->region);
    exec_code_clear(&places->code);
}

static void addresses(const void *context, uint64_t *from, uint64_t *until)
{
    const struct exec_places *places = context;
    region_places_addresses(&places->region, from, until);
}

/* Rejects missing functions of programs without shared libraries, which load no further functions.
 */
static int check_places(struct exec_places *places, const struct modules *modules,
                        struct bt_error *error)
{
    const struct exec_symbol *missing = region_places_look(&places->region, modules);
    if (missing && modules_count(modules) == 1 && !places->follows)
        return bt_fail(error, BT_USAGE, "no function %.100s in %.100s%s%.200s", missing->name,
                       places->path, missing->refused ? "; " : "",
                       missing->refused ? missing->refused : "");
    return 0;
}

static int hide(struct process *process, FILE *stream, struct bt_error *error)
{
    return stream ? process_hide(process, fileno(stream), error) : 0;
}

static int check(void *context, struct process *process, struct bt_error *error)
{
    struct exec_places *places = context;
    if (check_places(places, process_modules(process), error) < 0 ||
        hide(process, places->messages, error) < 0 ||
        (places->debug != places->messages && hide(process, places->debug, error) < 0))
        return error->code;
    return 0;
}

/* Writes and closes a file, which may be NULL: opening it has failed. Returns 0 or the errno of a
 * failure. */
static int write_to(FILE *file, const struct modules *modules, bool timed)
{
    if (!file)
        return errno;
    errno = 0;
    modules_write(modules, timed, file);
    bool failed = ferror(file); /* fclose() succeeds even if an earlier write failed */
    if (fclose(file) == 0 && !failed)
        return 0;
    return errno ? errno : EIO;
}

/* Readers find either the earlier list or the whole new one, except in a pipe or device. Returns 0
 * or the errno of a failure. */
static int write_list(const char *path, const struct modules *modules, bool timed)
{
    struct bt_error error;
    struct stat status;
    const bool special = stat(path, &status) == 0 && !S_ISREG(status.st_mode);
    struct new_file *file = special ? NULL : new_file_begin(path, NEW_FILE_REPLACES, &error);
    if (!file) /* the folder may take no new files */
        return write_to(fopen(path, "we"), modules, timed);
    const int descriptor = fcntl(new_file_descriptor(file), F_DUPFD_CLOEXEC, 0);
    int failure = write_to(descriptor < 0 ? NULL : fdopen(descriptor, "w"), modules, timed);
    errno = 0;
    if (failure == 0 && new_file_commit(file, &error) < 0)
        failure = errno ? errno : EIO;
    new_file_free(file);
    return failure;
}

/* The times are ticks of the one capture of the process. */
static void write_modules(struct exec_places *places)
{
    places->modules_failure = write_list(places->modules, places->loaded, !places->orders->each);
    if (places->modules_failure && places->own_list) { /* it may have changed its user or folders */
        places->modules[0] = '\0';
        places->modules_failure = 0;
    }
    places->modules_written = places->modules_failure ? 0 : modules_count(places->loaded);
    places->modules_changes = modules_changes(places->loaded);
}

/* Writes the list each time it has grown, because the program may be killed at any time. */
static void loaded(void *context, const struct modules *modules)
{
    struct exec_places *places = context;
    region_places_look(&places->region, modules);
    exec_code_look(&places->code, modules);
    places->loaded = modules;
    if (places->modules[0] && modules_count(modules) != places->modules_written)
        write_modules(places);
}

/* A followed process has a list of its own, if that of the first one has its usual name. */
static void begin_process(void *context, uint32_t number)
{
    struct exec_places *places = context;
    const char *lists = places->orders->lists;
    const int bytes = snprintf(places->modules, sizeof places->modules, "%s-p%u" MODULE_LIST_SUFFIX,
                               lists, (unsigned)number);
    if (!lists[0] || bytes < 0 || (size_t)bytes >= sizeof places->modules ||
        !module_list_may_write(places->modules))
        places->modules[0] = '\0';
    places->own_list = true;
    if (places->modules[0] && places->loaded)
        write_modules(places);
}

static bool is_selected(const void *context, uint64_t address)
{
    return exec_code_has(&((const struct exec_places *)context)->code, address);
}

/* --- messages ----------------------------------------------------------------------------------
 */

/* Reports places that the program did not contain or reach. */
static void ended(void *context, bool opened)
{
    struct exec_places *places = context;
    const struct exec_code *code = &places->code;
    if (places->modules[0] && places->loaded &&
        modules_changes(places->loaded) != places->modules_changes)
        write_modules(places);
    if (code->function.text && code->count == 0)
        region_places_report_missing(&code->function, places->messages);
    else if (code->module && code->count == 0)
        own_stream_say(places->messages, "the program loaded no file %s", PRINTABLE(code->module));
    region_places_report(&places->region, opened, places->orders->markers, places->messages);
}

static int finish(void *context)
{
    const struct exec_places *places = context;
    if (!places->modules_failure)
        return 0;
    own_stream_say(places->messages, "cannot write %s: %s", PRINTABLE(places->modules),
                   strerror(places->modules_failure));
    return STATUS_IO;
}

static void failed(void *context, const struct bt_error *error)
{
    const struct exec_places *places = context;
    own_stream_say(places->messages, "%s: %s", PRINTABLE(places->path), error->message);
}

static void notice(void *context, const char *what)
{
    own_stream_notice(((struct exec_places *)context)->messages, what);
}

/* --- --debug -----------------------------------------------------------------------------------
 */

static void print_block(void *context, unsigned processor, const struct block *block)
{
    exec_debug_block(((struct exec_places *)context)->debug, processor, block);
}

static void print_signal(void *context, unsigned processor, const struct signal_report *signal)
{
    exec_debug_signal(((struct exec_places *)context)->debug, processor, signal);
}

static void print_call(void *context, unsigned processor, const struct system_call *call,
                       bool returned)
{
    exec_debug_call(((struct exec_places *)context)->debug, processor, call, returned);
}

const struct exec_inside_operations exec_places_callbacks = {.begin = begin,
                                                             .places = addresses,
                                                             .check = check,
                                                             .process = begin_process,
                                                             .loaded = loaded,
                                                             .is_selected = is_selected,
                                                             .notice = notice,
                                                             .translated = print_block,
                                                             .signalled = print_signal,
                                                             .called = print_call,
                                                             .failed = failed,
                                                             .ended = ended,
                                                             .finish = finish,
                                                             .end = end};
