#include "tools/common/commands.h"

#include "capture/pack/pack_replace.h"
#include "formats/base/new_file.h"
#include "formats/base/printable.h"
#include "formats/base/thread.h"
#include "formats/capture/capture_name.h"
#include "tools/common/json_report.h"
#include "tools/common/overwrite.h"
#include "tools/input/distinct_files.h"
#include "tools/input/input_report.h"
#include "tools/symbols/module_list_copy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MOST 256u
#define THREADS_OWN  8u /* without -j: each takes memory */

struct pack_options {
    const char *output;
    bool in_place, force, json, quiet;
    uint32_t level, threads;
};

static const struct option_row pack_options[] = {
    {OPTION_FILE, 'o', "output", "OUT", "the new file; - is standard output",
     offsetof(struct pack_options, output), NULL},
    {OPTION_FLAG, 0, "in-place", NULL, "replace each FILE by its packed form, FILE.byb",
     offsetof(struct pack_options, in_place), NULL},
    {OPTION_NUMBER, 0, "level", "N",
     "1 to 4: fast to write and read; 5 to 7: for archives (default: 5); see bustap-pack(1)",
     offsetof(struct pack_options, level), NULL},
    {OPTION_NUMBER, 'j', "threads", "N",
     "code blocks in N threads (default: one a processor, at most 8)",
     offsetof(struct pack_options, threads), NULL},
    {OPTION_FLAG, 0, "force", NULL, "replace an existing OUT", offsetof(struct pack_options, force),
     NULL},
    OPTION_JSON_ROW(struct pack_options, json),
    {OPTION_FLAG, 'q', "quiet", NULL, "do not print what was packed",
     offsetof(struct pack_options, quiet), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* A run of the command over its files. */
struct pack_run {
    const struct pack_options *options;
    struct pack_settings settings;
    struct input_report report;
    struct json_put *json; /* NULL: text */
};

static void print_json(struct json_put *json, const char *path, const char *output,
                       const struct pack_counts *counts)
{
    json_put_object(json);
    json_text(json, "file", path);
    json_text(json, "output", output);
    json_count(json, "records", counts->records);
    json_count(json, "lost", counts->lost);
    json_count(json, "blocks_before", counts->blocks_before);
    json_count(json, "blocks", counts->blocks);
    json_count(json, "bytes_before", counts->bytes_before);
    json_count(json, "bytes", counts->bytes);
    json_put_object_end(json);
}

static void print_text(const char *output, const struct pack_counts *counts)
{
    fprintf(stderr, "bustap: %s: %" PRIu64 " %s in %" PRIu64 " bytes", PRINTABLE(output),
            counts->records, counts->records == 1 ? "record" : "records", counts->bytes);
    if (counts->bytes_before > 0)
        fprintf(stderr, ", %.1f %% of %" PRIu64,
                (double)counts->bytes * 100 / (double)counts->bytes_before, counts->bytes_before);
    fputc('\n', stderr);
}

static void print_result(struct pack_run *run, const char *path, const char *output,
                         const struct pack_counts *counts)
{
    progress_clear(&run->report.progress);
    if (run->json)
        print_json(run->json, path, output, counts);
    else if (!run->options->quiet)
        print_text(output, counts);
}

/* Packs the one input into OUT. 0 or a negative code. */
static int pack_to_output(struct pack_run *run, char *const *path, struct bt_error *error)
{
    const struct pack_options *options = run->options;
    const bool piped = strcmp(options->output, "-") == 0;
    const char *name = piped ? "standard output" : options->output;
    struct pack_counts counts;
    struct new_file *file = NULL;
    int result = overwrite_check(options->output, 1, path, "OUT", error);
    if (result == 0 && !piped && !(file = overwrite_begin(options->output, options->force, error)))
        result = error->code;
    if (result == 0)
        result = pack_file(*path, file ? new_file_descriptor(file) : STDOUT_FILENO, name,
                           &run->settings, &counts, error);
    if (result == 0 && file) {
        result = new_file_synchronise(file, error);
        if (result == 0)
            result = new_file_commit(file, error);
        if (result == 0)
            result = module_list_copy(1, path, options->output, false, options->force, error);
        if (result == BT_NOTE) {
            input_report_found(&run->report, error);
            result = 0;
        }
    }
    new_file_free(file);
    if (result == 0)
        print_result(run, *path, name, &counts);
    return result;
}

/* Reports that a file is left unchanged. */
static void print_kept(struct pack_run *run, const char *path, struct pack_counts *counts)
{
    progress_clear(&run->report.progress);
    if (!run->options->quiet)
        fprintf(stderr,
                "bustap: %s stays: %" PRIu64 " bytes; packed it would have %" PRIu64 " bytes\n",
                PRINTABLE(path), counts->bytes_before, counts->bytes);
    counts->bytes = counts->bytes_before;
    counts->blocks = counts->blocks_before;
    if (run->json)
        print_json(run->json, path, path, counts);
}

/* Whether the file can be replaced by one of that name: 0 or a negative code. */
static int check_place(const char *path, const char *name, struct bt_error *error)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
        return bt_fail(error, BT_USAGE, "%.300s is a symbolic link: name the file itself", path);
    if (access(path, R_OK) != 0)
        return bt_fail_errno(error, "cannot open %.300s", path);
    const int result = overwrite_check_held(path, error);
    if (result == 0 && strcmp(name, path) != 0 && access(name, F_OK) == 0)
        return bt_fail(
            error, BT_IO,
            "%.200s exists already: if 'bustap info' shows the capture of %.200s, and 'bustap "
            "verify' finds it whole, remove the latter; else move it away",
            name, path);
    return result;
}

/* Packs a file and replaces it. 0 or a negative code. */
static int pack_in_place(struct pack_run *run, const char *path, struct bt_error *error)
{
    struct pack_counts counts;
    struct capture_name parsed;
    const struct pack_replace_settings settings = {.pack = run->settings};
    if (capture_name_get(&parsed, path) && parsed.part)
        return bt_fail(error, BT_BUSY, PACK_NOT_COMPLETE, path);
    char *name = capture_name_coded(path);
    if (!name)
        return bt_fail(error, BT_MEMORY, "no memory for a name");
    int result = check_place(path, name, error);
    if (result == 0)
        result = pack_replace(path, name, &settings, &counts, error);
    if (result == PACK_DONE)
        print_result(run, path, name, &counts);
    else if (result == PACK_STAYS)
        print_kept(run, path, &counts);
    else if (result == PACK_GONE)
        result = bt_fail(error, BT_IO,
                         "%.300s was removed, replaced or changed while it was packed", path);
    free(name);
    return result < 0 ? result : 0;
}

/* Shows how far the file is. */
static bool go_on(void *context, const char *path, uint64_t done, uint64_t total)
{
    struct pack_run *run = context;
    progress_show(&run->report.progress, path, done, total);
    return true;
}

static void run_all(struct pack_run *run, int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        struct bt_error error;
        const int result = run->options->in_place ? pack_in_place(run, paths[i], &error)
                                                  : pack_to_output(run, &paths[i], &error);
        progress_clear(&run->report.progress);
        if (result < 0 && result != BT_CLOSED) /* ignored: a reader that closed the pipe early */
            input_report_error(&run->report, &error);
        if (result == BT_FULL || result == BT_MEMORY)
            break;
    }
}

/* What is wrong with the options together; NULL: nothing. */
static const char *find_conflict(const struct pack_options *options, int count, char *const *paths)
{
    if (count == 0)
        return "no FILE is given";
    if (options->level < 1 || options->level > PACK_LEVEL_MOST)
        return "--level is a number from 1 to 7";
    if (options->threads > THREADS_MOST)
        return "-j is a number up to 256";
    if (options->in_place == (options->output != NULL))
        return options->in_place ? "--in-place and -o exclude each other"
                                 : "-o OUT or --in-place is missing";
    if (options->output && count > 1)
        return "-o takes one FILE; --in-place takes several";
    if (options->output && options->json && strcmp(options->output, "-") == 0)
        return "--json and -o - both need standard output";
    for (int i = 0; i < count; i++)
        if (options->in_place && strcmp(paths[i], "-") == 0)
            return "standard input cannot be replaced: -o OUT";
    return NULL;
}

static int pack_main(struct invocation *call)
{
    struct pack_options options = {.level = PACK_LEVEL_DEFAULT};
    struct bt_error error;
    int status;
    if (!command_options(call, &options, &status))
        return status;
    const char *conflict = find_conflict(&options, call->count, call->arguments);
    if (conflict)
        return command_usage(call, "%s", conflict);
    if (distinct_files_check(call->count, call->arguments, &error) < 0)
        return command_failure(&error);
    if (options.threads == 0) {
        options.threads = thread_processors();
        options.threads = options.threads < THREADS_OWN ? options.threads : THREADS_OWN;
    }
    struct pack_run run = {
        .options = &options,
        .settings = {.level = (int)options.level, .threads = options.threads, .go_on = go_on}};
    input_report_begin(&run.report, !options.output || strcmp(options.output, "-") != 0);
    run.settings.context = &run;
    if (options.json) {
        run.json = json_report_begin(stdout);
        if (!run.json)
            return command_no_memory();
        json_count(run.json, "level", options.level);
        json_array(run.json, "files");
    }
    run_all(&run, call->count, call->arguments);
    if (run.json) {
        json_put_array_end(run.json);
        json_report_end(run.json);
    }
    input_report_end(&run.report);
    return run.report.status;
}

const struct command pack_command = {
    .name = "pack",
    .operands = "FILE... -o OUT | --in-place",
    .summary = "rewrite captures, smaller, for archives",
    .details = "Rewrites complete capture files as .byb files: the same records, ticks, indices, "
               "losses and identity, coded as columns. Each block is decoded and compared before "
               "it is written, and FILE is removed after the new file is on the disk. --level 1 "
               "makes files that are read fastest.",
    .options = pack_options,
    .run = pack_main,
    .group = NULL,
    .reads_captures = true};
