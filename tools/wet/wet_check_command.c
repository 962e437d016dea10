#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/common/progress.h"
#include "tools/wet/wet_check.h"

#include <inttypes.h>
#include <string.h>

struct check_settings {
    bool json;
};

static const struct option_row check_options[] = {OPTION_JSON_ROW(struct check_settings, json),
                                                  {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* A file that is checked. */
struct checked_file {
    const char *path;
    struct wet_trace trace;
    struct wet_check check;
    struct bt_error failure; /* code BT_DATA: it is corrupt */
    struct progress progress;
};

static const char *form_name(enum wet_check_form form)
{
    static const char *const names[] = {[WET_CHECK_BINARY] = "WET file",
                                        [WET_CHECK_TEXT] = "comprehensive text",
                                        [WET_CHECK_HISTORY] = "limited history"};
    return names[form];
}

/* How the recording ended. NULL: the file does not tell. */
static const char *describe_ending(const struct wet_file *file, char *text, size_t size)
{
    const uint32_t value = file->closing.value;
    if (!file->is_closed)
        return NULL;
    switch (file->closing.ending) {
    case WET_EXITED:
        snprintf(text, size, "exit status %" PRIu32, value);
        break;
    case WET_KILLED:
        snprintf(text, size, "signal %" PRIu32, value);
        break;
    case WET_LIMITED:
        snprintf(text, size, "end of the part to be recorded");
        break;
    case WET_EXECUTED:
        snprintf(text, size, "executed another program");
        break;
    default:
        snprintf(text, size, "the recorder failed, with exit status %d",
                 bt_exit_status(-(int)(value & 0xff)));
        break;
    }
    return text;
}

/* What is wrong, without the path that it may begin with. */
static const char *failure_text(const struct checked_file *file)
{
    const char *message = file->failure.message;
    char path[512];
    const int size = snprintf(path, sizeof path, "%.200s: ", PRINTABLE(file->path));
    return strncmp(message, path, (size_t)size) == 0 ? message + size : message;
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_row(const char *name, uint64_t value)
{
    printf("  %-24s %" PRIu64 "\n", name, value);
}

static void print_binary(const struct checked_file *file)
{
    const struct wet_file *wet = &file->trace.file;
    const struct wet_check *check = &file->check;
    char text[80];
    const char *ending = describe_ending(wet, text, sizeof text);
    printf("  %-24s %s\n", "program", PRINTABLE(wet->header.command));
    print_row("instructions executed", check->instructions);
    print_row("different instructions", check->known_instructions);
    print_row("blocks executed", check->blocks);
    print_row("different blocks", check->known_blocks);
    print_row("threads", check->threads);
    print_row("dependences", check->dependences);
    if (wet->header.has_values)
        print_row("values", check->values);
    else
        printf("  %-24s not recorded\n", "values");
    print_row("chunks", check->chunks);
    print_row("bytes", wet->size);
    if (check->instructions > 0)
        printf("  %-24s %.3f\n", "bytes an instruction",
               (double)wet->size / (double)check->instructions);
    if (wet->is_closed)
        print_row("unknown system calls", wet->closing.unknown_calls);
    printf("  %-24s %s\n", "ended by", ending ? ending : "not known");
}

static void print_text(const struct checked_file *file)
{
    const struct wet_check *check = &file->check;
    printable_put(file->path, stdout);
    if (file->failure.code < 0)
        printf(": %s\n", failure_text(file));
    else
        printf(": good: %s\n", form_name(check->form));
    if (check->form == WET_CHECK_BINARY && file->trace.file.is_wet && check->chunks > 0) {
        print_binary(file);
    } else if (check->form != WET_CHECK_BINARY && file->failure.code == 0) {
        print_row("lines", check->lines);
        if (check->form == WET_CHECK_TEXT)
            print_row("different instructions", check->known_instructions);
        print_row("dependences", check->dependences);
        if (check->form == WET_CHECK_TEXT)
            print_row("values", check->values);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_binary(struct json_put *json, const struct checked_file *file)
{
    const struct wet_file *wet = &file->trace.file;
    const struct wet_check *check = &file->check;
    char text[80];
    const char *ending = describe_ending(wet, text, sizeof text);
    json_text(json, "program", wet->header.command);
    json_count(json, "instructions", check->instructions);
    json_count(json, "blocks", check->blocks);
    json_count(json, "different_blocks", check->known_blocks);
    json_count(json, "threads", check->threads);
    json_count(json, "chunks", check->chunks);
    json_count(json, "bytes", wet->size);
    json_bool(json, "has_values", wet->header.has_values);
    json_bool(json, "closed", wet->is_closed);
    json_text_or_null(json, "ended_by", ending ? ending : "");
    json_count(json, "unknown_system_calls", wet->closing.unknown_calls);
}

static int print_json(const struct checked_file *file)
{
    const struct wet_check *check = &file->check;
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    json_bool(json, "good", file->failure.code == 0);
    json_text_or_null(json, "failure", failure_text(file));
    json_text(json, "form", form_name(check->form));
    json_count(json, "different_instructions", check->known_instructions);
    json_count(json, "dependences", check->dependences);
    json_count(json, "values", check->values);
    if (check->form == WET_CHECK_BINARY)
        put_binary(json, file);
    else
        json_count(json, "lines", check->lines);
    json_report_end(json);
    return 0;
}

/* --- checking --------------------------------------------------------------------------------- */

static void show_progress(void *context, uint64_t done)
{
    struct checked_file *file = context;
    progress_show(&file->progress, file->path, done, file->trace.file.size);
}

static void show_text_progress(void *context, uint64_t done, uint64_t size)
{
    struct checked_file *file = context;
    progress_show(&file->progress, file->path, done, size);
}

static int check_text(struct checked_file *file, struct bt_error *error)
{
    const struct wet_file *wet = &file->trace.file;
    struct text_reader *reader =
        wet->bytes ? text_reader_from_memory(wet->bytes, (size_t)wet->size, "standard input", error)
                   : text_reader_open(file->path, error);
    if (!reader)
        return error->code;
    text_reader_set_progress(reader, show_text_progress, file);
    const int result = wet_check_text(reader, &file->check, error);
    text_reader_close(reader);
    return result;
}

/* Finds out what the file is, and checks it. */
static int check_file(struct checked_file *file, struct bt_error *error)
{
    int result = wet_trace_open(&file->trace, file->path, error);
    if (result == BT_DATA && !file->trace.file.is_wet)
        result = check_text(file, error);
    else if (result == 0)
        result = wet_check_binary(&file->trace, &file->check, show_progress, file, error);
    if (result == BT_DATA) {
        file->failure = *error;
        result = 0;
    }
    return result;
}

static int check_main(struct invocation *call)
{
    struct check_settings settings = {.json = false};
    struct checked_file file = {.path = NULL};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one FILE is needed");
    file.path = call->arguments[0];
    progress_begin(&file.progress, true);
    int result = check_file(&file, &error);
    progress_clear(&file.progress);
    if (result == 0 && !settings.json)
        print_text(&file);
    else if (result == 0 && print_json(&file) < 0)
        result = bt_fail(&error, BT_MEMORY, "no memory for the report");
    wet_trace_close(&file.trace);
    if (result < 0)
        return command_failure(&error);
    return file.failure.code == 0 ? STATUS_GOOD : STATUS_DATA;
}

const struct command wet_check_command = {
    .name = "check",
    .operands = "FILE",
    .summary = "check a WET file, or the text of a trace",
    .details = "Checks FILE, which is a WET file, a comprehensive text or a limited history, and "
               "prints what it contains. A WET file is replayed: every dependence must be on an "
               "instance that was executed before (doc/wet-file.md). Texts may be compressed; - is "
               "standard input.",
    .options = check_options,
    .run = check_main,
    .group = NULL};
