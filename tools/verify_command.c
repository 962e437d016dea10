#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/words.h"
#include "tools/input/gaps.h"
#include "tools/input/trace_set.h"

#include <inttypes.h>

struct verify_settings {
    bool json, strict;
    struct input_trace_settings reading;
};

static const struct option_row verify_options[] = {
    OPTION_JSON_ROW(struct verify_settings, json),
    {OPTION_FLAG, 0, "strict", NULL, "exit with status 1 for accounted losses too",
     offsetof(struct verify_settings, strict), NULL},
    BYU_READING_OPTIONS(struct verify_settings, reading.reading),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Computes the verdict. A trace without a header is never complete: its number of records is
 * unknown. */
static void judge(struct trace_verdict *verdict, const struct trace_file *files, size_t count)
{
    trace_set_judge(verdict, files, count);
    if (!verdict->complete || files[0].kind == TRACE_CAPTURE)
        return;
    verdict->complete = false;
    snprintf(verdict->why, sizeof verdict->why,
             "%.100s is not a capture file and lacks the number of requests that the board saw",
             files[0].path);
}

static const char *file_state(const struct trace_file *file)
{
    if (!file->opened)
        return "unreadable";
    if (file->damaged > 0 && (file->closed || file->damaged > 1))
        return "damaged";
    if (file->kind != TRACE_CAPTURE)
        return "no capture file";
    if (!file->closed)
        return "not closed";
    return capture_end_name(file->totals.end);
}

/* Losses in the whole capture, also in files that a ring has removed. */
static uint64_t all_lost(const struct trace_verdict *verdict)
{
    return words_lost(verdict->lost) + verdict->removed_lost;
}

static void print_removed(const struct trace_verdict *verdict)
{
    if (verdict->removed_files == 0)
        return;
    printf("  files 1 to %" PRIu32 ", with %" PRIu64 " requests", verdict->removed_files,
           verdict->removed);
    if (verdict->removed_lost > 0)
        printf(" of which %" PRIu64 " were lost", verdict->removed_lost);
    printf(", were removed by the ring of %" PRIu32 "\n", verdict->ring);
}

/* Prints the requests that the board excluded from the records; they are not losses. */
static void print_source(const struct trace_verdict *verdict)
{
    const struct source_totals *source = verdict->last ? &verdict->last->totals.source : NULL;
    if (!source || !source->known)
        return;
    if (source->filtered > 0)
        printf("  %" PRIu64 " requests were not wanted by the filter\n", source->filtered);
    if (source->above_4gib > 0)
        printf("  %" PRIu64 " requests above 4 GiB fit no record\n", source->above_4gib);
    if (source->undecoded > 0)
        printf("  %" PRIu64 " requests were of reserved or unknown kinds\n", source->undecoded);
    if (verdict->last->totals.after_stop > 0)
        printf("  %" PRIu64 " requests came after the stop\n", verdict->last->totals.after_stop);
}

static void print_verdict(const struct trace_verdict *verdict)
{
    char loss[LOSS_TEXT_BYTES];
    char length[GAPS_LENGTH_BYTES];
    uint64_t lost = words_lost(verdict->lost);
    print_removed(verdict);
    print_source(verdict);
    if (!verdict->complete)
        printf("INCOMPLETE: %s", PRINTABLE(verdict->why));
    else if (lost > 0)
        printf("accounted for: %" PRIu64 " records, %" PRIu64 " lost (%s)", verdict->records, lost,
               loss_text(loss, verdict->lost));
    else if (verdict->removed_lost > 0)
        printf("accounted for: %" PRIu64 " records, nothing lost in the files that are here",
               verdict->records);
    else
        printf("complete: %" PRIu64 " records in %" PRIu64 " %s, nothing lost", verdict->records,
               verdict->files, verdict->files == 1 ? "file" : "files");
    if (verdict->complete && verdict->gaps > 0)
        printf(verdict->gaps == 1 ? ", %" PRIu64 " gap of %s" : ", %" PRIu64 " gaps, %s in all",
               verdict->gaps, gaps_length(length, verdict->gap_ms));
    if (verdict->complete && verdict->chosen_gaps > 0)
        printf(verdict->chosen_gaps == 1 ? ", %" PRIu64 " gap, chosen"
                                         : ", %" PRIu64 " gaps, chosen",
               verdict->chosen_gaps);
    putchar('\n');
}

static void print_capture(const struct trace_verdict *verdict, const struct trace_file *files,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct trace_file *file = &files[i];
        char loss[LOSS_TEXT_BYTES];
        printf("%s: %" PRIu64 " records, %" PRIu64 " lost%s%s%s, %s\n", PRINTABLE(file->path),
               file->records, loss_total(&file->lost), loss_total(&file->lost) ? " (" : "",
               loss_text(loss, file->lost.count), loss_total(&file->lost) ? ")" : "",
               file_state(file));
        gaps_print(file, "  ", false);
    }
    print_verdict(verdict);
}

static void json_file(struct json_put *json, const struct trace_file *file)
{
    json_put_object(json);
    json_text(json, "path", file->path);
    json_count(json, "number", file->info.file_number);
    json_count(json, "records", file->records);
    json_count(json, "lost", loss_total(&file->lost));
    json_count(json, "missing", file->missing);
    json_count(json, "damaged_places", file->damaged);
    json_text(json, "state", file_state(file));
    json_put_object_end(json);
}

static void json_capture(struct json_put *json, const struct trace_verdict *verdict,
                         const struct trace_file *files, size_t count)
{
    const struct capture_totals *totals = verdict->last ? &verdict->last->totals : NULL;
    json_put_object(json);
    json_text(json, "verdict",
              !verdict->complete      ? "incomplete"
              : all_lost(verdict) > 0 ? "accounted for"
                                      : "complete");
    json_text(json, "why", verdict->why);
    json_count(json, "records", verdict->records);
    json_count(json, "lost", words_lost(verdict->lost));
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        char key[24];
        snprintf(key, sizeof key, "lost_%s", loss_stage_name(stage));
        json_count(json, key, verdict->lost[stage]);
    }
    gaps_json(json, files, count);
    json_count(json, "removed_files", verdict->removed_files);
    json_count(json, "removed_requests", verdict->removed);
    json_count(json, "removed_lost", verdict->removed_lost);
    if (totals && totals->source.known) {
        json_count(json, "accepted", totals->source.accepted);
        json_count(json, "filtered", totals->source.filtered);
        json_count(json, "above_4gib", totals->source.above_4gib);
        json_count(json, "undecoded", totals->source.undecoded);
        json_count(json, "after_stop", totals->after_stop);
    }
    json_array(json, "files");
    for (size_t i = 0; i < count; i++)
        json_file(json, &files[i]);
    json_put_array_end(json);
    json_put_object_end(json);
}

/* Judges and prints every capture of the set. Returns the exit status. */
static int report_captures(const struct trace_set *set, const struct verify_settings *settings,
                           struct json_put *json)
{
    int status = 0;
    size_t count;
    for (size_t first = 0; (count = trace_set_capture(set, first)) > 0; first += count) {
        struct trace_verdict verdict;
        const struct trace_file *files = set->files + first;
        judge(&verdict, files, count);
        if (!verdict.complete || (settings->strict && all_lost(&verdict) > 0))
            status = STATUS_DATA;
        if (json)
            json_capture(json, &verdict, files, count);
        else
            print_capture(&verdict, files, count);
    }
    return status;
}

static int report_json(const struct trace_set *set, const struct verify_settings *settings)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return command_no_memory();
    json_array(json, "captures");
    int status = report_captures(set, settings, json);
    json_put_array_end(json);
    json_bool(json, "good", status == 0);
    json_report_end(json);
    return status;
}

static int verify_main(struct invocation *call)
{
    struct verify_settings settings = {.reading.byu_only = true};
    struct input_report report;
    struct trace_set set = {.files = NULL, .count = 0, .capacity = 0};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count == 0)
        return command_usage(call, "FILE is missing");
    struct input_paths paths;
    input_report_begin(&report, true);
    input_paths_take(&paths, call->count, call->arguments);
    if (trace_set_read(&set, &paths, &settings.reading, &report, NULL, &error) < 0) {
        input_report_error(&report, &error);
    } else {
        progress_clear(&report.progress);
        status =
            settings.json ? report_json(&set, &settings) : report_captures(&set, &settings, NULL);
        if (status > report.status)
            report.status = status;
    }
    trace_set_free(&set);
    input_report_end(&report);
    return report.status;
}

const struct command verify_command = {
    .name = "verify",
    .operands = "FILE...",
    .summary = "verify that every request is present or counted as lost",
    .details = "Reads, decompresses and checks whole captures: blocks, counts, indices, ticks, "
               "the order of files, and the board's own counts. Files may be given in any "
               "order and of several captures. The exit status is 0 only if every missing "
               "record is counted as lost.",
    .options = verify_options,
    .run = verify_main,
    .group = NULL,
    .reads_captures = true};
