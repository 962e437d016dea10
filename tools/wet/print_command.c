#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/overwrite.h"
#include "tools/common/progress.h"
#include "tools/wet/wet_print.h"

#include <stdio.h>
#include <string.h>

struct print_settings {
    const char *output;
    uint64_t memory;
};

static const struct option_row print_options[] = {
    {OPTION_FILE, 'o', "output", "OUT",
     "write to OUT, compressed if it ends in .gz or .bz2 (default: standard output)",
     offsetof(struct print_settings, output), NULL},
    {OPTION_BYTES, 0, "max-memory", "SIZE",
     "memory for lines; what does not fit takes another pass over FILE (default: 256M)",
     offsetof(struct print_settings, memory), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

struct printing {
    const char *path;
    struct wet_trace trace;
    struct text_writer *out;
    struct progress progress;
};

static void show_progress(void *context, uint64_t done)
{
    struct printing *printing = context;
    progress_show(&printing->progress, printing->path, done, printing->trace.file.size);
}

/* Reports that the trace is not whole. */
static int say_incomplete(const struct printing *printing, const struct wet_printed *printed)
{
    const struct wet_file *file = &printing->trace.file;
    if (printed->damage.code < 0)
        fprintf(stderr, "bustap: %s: %s; what is before it was printed\n",
                PRINTABLE(printing->path), printed->damage.message);
    else if (file->is_cut)
        fprintf(stderr, "bustap: %s: %s; what is before it was printed\n",
                PRINTABLE(printing->path), file->cut.message);
    else if (!file->is_closed)
        fprintf(stderr,
                "bustap: %s: its end is missing: the recording was cut off, or still continues\n",
                PRINTABLE(printing->path));
    else
        return STATUS_GOOD;
    return STATUS_DATA;
}

static int print_file(struct printing *printing, const struct print_settings *settings,
                      struct wet_printed *printed, struct bt_error *error)
{
    const struct wet_print_settings how = {
        .memory = (size_t)settings->memory, .progress = show_progress, .context = printing};
    int result = wet_trace_open(&printing->trace, printing->path, error);
    if (result < 0)
        return result;
    printing->out = text_writer_new(settings->output, error);
    result = printing->out ? wet_print(&printing->trace, printing->out, &how, printed, error)
                           : error->code;
    return result == 0 ? text_writer_finish(printing->out, error) : result;
}

static int print_main(struct invocation *call)
{
    struct print_settings settings = {.output = "-", .memory = WET_PRINT_MEMORY};
    struct wet_printed printed = {.instructions = 0};
    struct bt_error error = {0};
    struct printing printing = {.path = NULL};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one FILE is needed");
    printing.path = call->arguments[0];
    int result = overwrite_check(settings.output, call->count, call->arguments, "the text", &error);
    progress_begin(&printing.progress, strcmp(settings.output, "-") != 0);
    if (result == 0)
        result = print_file(&printing, &settings, &printed, &error);
    progress_clear(&printing.progress);
    if (result == 0)
        status = say_incomplete(&printing, &printed);
    else
        status = result == BT_CLOSED ? STATUS_GOOD : command_failure(&error);
    text_writer_free(printing.out);
    wet_trace_close(&printing.trace);
    return status;
}

const struct command wet_print_command = {
    .name = "print",
    .operands = "FILE.wet",
    .summary = "print a WET file as text",
    .details =
        "Prints the comprehensive tracing information: the number of executed instructions, "
        "and for each its dependences port by port and its values (doc/wet.md). Instructions "
        "of a file without values have NO VALUES. - is standard input.",
    .options = print_options,
    .run = print_main,
    .group = NULL};
