#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/base/saturating.h"
#include "tools/common/words.h"
#include "tools/input/captures.h"
#include "tools/input/gaps.h"
#include "tools/input/trace_select.h"
#include "tools/input/trace_set.h"
#include "tools/input/trigger_windows.h"

#include <inttypes.h>
#include <string.h>

struct info_settings {
    bool json;
    struct record_input_settings input;
};

static const struct option_row info_options[] = {
    OPTION_JSON_ROW(struct info_settings, json),
    RECORD_INPUT_SELECTION_OPTIONS(struct info_settings, input),
    MODULE_OPTIONS(struct info_settings, input.modules),
    INPUT_TRACE_OPTIONS(struct info_settings, input.trace),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Sums over all files. */
struct summary {
    const struct record_input_settings *part; /* what was read; NULL: whole traces */
    struct trace_verdict total;               /* over all captures */
    uint64_t captures;
    struct tally tally;
    const struct trace_set *set;
    const struct trace_file *first; /* of the first capture */
    const struct trace_file *last;  /* of the last capture; NULL: without a closing member */
    bool lacking;                   /* a capture with a header is incomplete */
};

static void add_capture(struct summary *summary, const struct trace_verdict *capture)
{
    struct trace_verdict *total = &summary->total;
    if (capture->records > 0) {
        if (total->records == 0 || capture->first_tick < total->first_tick)
            total->first_tick = capture->first_tick;
        if (total->records == 0 || capture->last_tick > total->last_tick)
            total->last_tick = capture->last_tick;
    }
    if (!capture->complete && total->complete) {
        total->complete = false;
        memcpy(total->why, capture->why, sizeof total->why);
    }
    total->files += capture->files;
    total->records += capture->records;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        total->lost[stage] += capture->lost[stage];
    total->gaps += capture->gaps;
    total->gap_ms = saturating_add(total->gap_ms, capture->gap_ms);
    total->chosen_gaps += capture->chosen_gaps;
    total->bytes += capture->bytes;
    total->removed_files += capture->removed_files;
    total->removed += capture->removed;
    summary->last = capture->last;
    summary->captures++;
}

static void summarise(struct summary *summary, const struct trace_set *set)
{
    summary->total.complete = true;
    summary->set = set;
    summary->first = set->files;
    size_t count;
    for (size_t first = 0; (count = trace_set_capture(set, first)) > 0; first += count) {
        struct trace_verdict capture;
        trace_set_judge(&capture, set->files + first, count);
        add_capture(summary, &capture);
        if (!summary->part && !capture.complete && !capture.boardless &&
            set->files[first].kind == TRACE_CAPTURE)
            summary->lacking = true;
    }
}

/* Calls show for each capture, in the order of the set. */
static void each_capture(const struct summary *summary,
                         void (*show)(const struct summary *summary, void *context,
                                      uint64_t ordinal, const struct trace_file *first,
                                      const struct trace_verdict *capture),
                         void *context)
{
    const struct trace_set *set = summary->set;
    uint64_t ordinal = 0;
    size_t count;
    for (size_t first = 0; (count = trace_set_capture(set, first)) > 0; first += count) {
        struct trace_verdict capture;
        trace_set_judge(&capture, set->files + first, count);
        show(summary, context, ++ordinal, &set->files[first], &capture);
    }
}

/* --- JSON ------------------------------------------------------------------------------------ */

static const char *type_key(char text[8], unsigned type)
{
    const char *name = request_type_name((uint8_t)type);
    snprintf(text, 8, "0x%02x", type);
    return name ? name : text;
}

static void json_counts(struct json_put *json, const char *key, const uint64_t counts[256],
                        bool types)
{
    json_object(json, key);
    for (unsigned value = 0; value < 256; value++) {
        char text[8];
        snprintf(text, sizeof text, "%u", value);
        if (counts[value] > 0)
            json_count(json, types ? type_key(text, value) : text, counts[value]);
    }
    json_put_object_end(json);
}

static void json_lost(struct json_put *json, const uint64_t lost[LOSS_STAGES])
{
    json_object(json, "lost_by_stage");
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        json_count(json, loss_stage_name(stage), lost[stage]);
    json_put_object_end(json);
}

static void json_source(struct json_put *json, const struct capture_totals *totals)
{
    json_put_key(json, "source");
    if (!totals->source.known) {
        json_put_null(json);
        return;
    }
    json_put_object(json);
    json_count(json, "seen", totals->source.seen);
    json_count(json, "accepted", totals->source.accepted);
    json_count(json, "filtered", totals->source.filtered);
    json_count(json, "above_4gib", totals->source.above_4gib);
    json_count(json, "undecoded", totals->source.undecoded);
    json_count(json, "after_stop", totals->after_stop);
    json_put_object_end(json);
}

static void json_id(struct json_put *json, const struct capture_info *info)
{
    char id[2 * CAPTURE_ID_BYTES + 1];
    for (unsigned i = 0; i < CAPTURE_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", info->id[i]);
    json_text(json, "id", id);
}

static void json_complete(struct json_put *json, const struct trace_verdict *verdict)
{
    json_bool(json, "complete", verdict->complete);
    json_text(json, "incomplete_because", verdict->why);
}

static void json_capture(const struct summary *summary, void *context, uint64_t ordinal,
                         const struct trace_file *first, const struct trace_verdict *capture)
{
    struct json_put *json = context;
    (void)ordinal;
    json_put_object(json);
    json_text(json, "path", first->path);
    json_id(json, &first->info);
    json_text(json, "board", first->info.board);
    json_time(json, "started", first->info.started_ns);
    json_count(json, "clock_hz", first->info.clock_hz);
    json_count(json, "files", capture->files);
    json_count(json, "records", capture->records);
    json_count(json, "lost", words_lost(capture->lost));
    json_count(json, "first_tick", capture->first_tick);
    json_count(json, "last_tick", capture->last_tick);
    if (!summary->part)
        json_complete(json, capture);
    json_put_object_end(json);
}

static void json_description(struct json_put *json, const struct summary *summary)
{
    const struct capture_info *info = &summary->first->info;
    json_id(json, info);
    json_bool(json, "derived", info->derived);
    json_bool(json, "stall", info->may_stall);
    json_count(json, "first_index", info->first_index);
    json_text(json, "board", info->board);
    json_text(json, "bus", info->bus);
    json_text(json, "filter", PRINTABLE(info->filter));
    json_time(json, "started", info->started_ns);
    if (summary->part)
        return;
    json_time(json, "ended", summary->last ? summary->last->totals.ended_ns : 0);
    json_text(json, "end",
              capture_end_name(summary->last ? summary->last->totals.end : CAPTURE_END_NONE));
    json_text(json, "message", summary->last ? summary->last->totals.message : "");
    if (summary->last)
        json_source(json, &summary->last->totals);
}

static int print_json(const struct summary *summary)
{
    const struct trace_verdict *total = &summary->total;
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    json_count(json, "records", total->records);
    json_count(json, "lost", words_lost(total->lost));
    if (summary->part) {
        json_object(json, "selection");
        record_input_json(json, summary->part);
        json_put_object_end(json);
    } else {
        json_complete(json, total);
    }
    json_count(json, "files", total->files);
    json_count(json, "captures", summary->captures);
    if (summary->captures == 1) {
        json_count(json, "first_tick", total->first_tick);
        json_count(json, "last_tick", total->last_tick);
        json_count(json, "clock_hz", summary->first->info.clock_hz);
    }
    json_count(json, "raw_bytes", total->records * RECORD_BYTES);
    if (!summary->part)
        json_count(json, "compressed_bytes", total->bytes);
    json_counts(json, "by_type", summary->tally.types, true);
    json_counts(json, "by_processor", summary->tally.processors, false);
    json_counts(json, "by_size", summary->tally.sizes, false);
    json_lost(json, total->lost);
    gaps_json(json, summary->set->files, summary->set->count);
    if (!summary->part) {
        trigger_windows_json(json, summary->set->files, summary->set->count);
        json_count(json, "removed_files", total->removed_files);
        json_count(json, "removed_requests", total->removed);
    }
    if (summary->captures == 1)
        json_description(json, summary);
    json_array(json, "each_capture");
    each_capture(summary, json_capture, json);
    json_put_array_end(json);
    json_report_end(json);
    return 0;
}

/* --- text ------------------------------------------------------------------------------------ */

static void print_counts(const char *heading, const uint64_t counts[256], uint64_t records,
                         bool types)
{
    const char *label = heading;
    for (unsigned value = 0; value < 256; value++) {
        char text[8];
        snprintf(text, sizeof text, "%u", value);
        if (counts[value] == 0)
            continue;
        printf("%-13s %-13s %14" PRIu64 "  %5.1f %%\n", label, types ? type_key(text, value) : text,
               counts[value], 100.0 * (double)counts[value] / (double)records);
        label = "";
    }
}

/* For a capture of a program, whose ticks are instructions. */
static bool is_program(const struct capture_info *info)
{
    return strcmp(info->bus, CAPTURE_BUS_PROGRAM) == 0;
}

static void print_description(const struct summary *summary)
{
    const struct capture_info *info = &summary->first->info;
    char text[WORDS_TIME_BYTES];
    if (is_program(info))
        printf("%-13s %s\n", "program", PRINTABLE(info->board));
    else if (info->board[0])
        printf("%-13s %s, bus %s\n", "board", PRINTABLE(info->board), PRINTABLE(info->bus));
    if (info->derived)
        printf("%-13s of other captures, from request %" PRIu64 "\n", "made", info->first_index);
    if (info->may_stall)
        printf("%-13s the board could stall the bus: times can be those of a slowed target\n",
               "stall");
    if (info->filter[0])
        printf("%-13s %s\n", "filter", PRINTABLE(info->filter));
    if (summary->last && summary->last->totals.source.known &&
        summary->last->totals.source.filtered > 0)
        printf("%-13s %" PRIu64 " requests not wanted by the filter\n", "",
               summary->last->totals.source.filtered);
    if (info->started_ns)
        printf("%-13s %s\n", "started", words_time(text, info->started_ns));
    if (summary->last)
        printf("%-13s %s, %s%s%s\n", "ended", words_time(text, summary->last->totals.ended_ns),
               capture_end_name(summary->last->totals.end),
               summary->last->totals.message[0] ? ": " : "",
               PRINTABLE(summary->last->totals.message));
}

static void print_ticks(const struct summary *summary)
{
    const struct trace_verdict *total = &summary->total;
    uint64_t clock = summary->first->info.clock_hz;
    printf("%-13s %" PRIu64 " to %" PRIu64, "ticks", total->first_tick, total->last_tick);
    if (clock > 0)
        printf(" at %.6g MHz: %.6f s", (double)clock / 1e6,
               (double)(total->last_tick - total->first_tick) / (double)clock);
    if (is_program(&summary->first->info))
        fputs(" instructions", stdout);
    putchar('\n');
}

static void print_gaps(const struct summary *summary)
{
    char length[GAPS_LENGTH_BYTES];
    if (summary->total.chosen_gaps > 0)
        printf("%-13s %" PRIu64 ", chosen\n", "gaps", summary->total.chosen_gaps);
    if (summary->total.gaps == 0)
        return;
    printf("%-13s %" PRIu64 ": %s in all\n", "gaps", summary->total.gaps,
           gaps_length(length, summary->total.gap_ms));
    for (size_t i = 0; i < summary->set->count; i++)
        gaps_print(&summary->set->files[i], "              ", true);
}

static void print_capture(const struct summary *summary, void *context, uint64_t ordinal,
                          const struct trace_file *first, const struct trace_verdict *capture)
{
    char label[32];
    char name[CAPTURES_NAME_BYTES];
    (void)context;
    snprintf(label, sizeof label, "capture %" PRIu64, ordinal);
    printf("%-13s %s\n", label,
           PRINTABLE(captures_name(name, sizeof name, first->path, &first->info, capture->files)));
    printf("%-13s %" PRIu64 " records, %" PRIu64 " lost, ticks %" PRIu64 " to %" PRIu64, "",
           capture->records, words_lost(capture->lost), capture->first_tick, capture->last_tick);
    if (!summary->part)
        printf(", %s%s",
               capture->complete ? "complete" : "not complete: ", PRINTABLE(capture->why));
    putchar('\n');
}

static void print_size(const struct trace_verdict *total)
{
    char raw[WORDS_SIZE_BYTES];
    char compressed[WORDS_SIZE_BYTES];
    double raw_bytes = (double)total->records * RECORD_BYTES;
    printf("%-13s %s of records in %s", "size", words_size(raw, raw_bytes),
           words_size(compressed, (double)total->bytes));
    if (total->bytes > 0)
        printf(": %.2f to 1", raw_bytes / (double)total->bytes);
    putchar('\n');
}

static void print_text(const struct summary *summary)
{
    const struct trace_verdict *total = &summary->total;
    char loss[LOSS_TEXT_BYTES];
    char only[RECORD_INPUT_ONLY_BYTES] = "";
    if (summary->part)
        record_input_only(only, summary->part);
    printf("%-13s %" PRIu64 "%s\n", "records", total->records, only);
    printf("%-13s %" PRIu64 "%s%s\n", "lost", words_lost(total->lost),
           words_lost(total->lost) ? ": " : "", loss_text(loss, total->lost));
    print_gaps(summary);
    trigger_windows_print(summary->set->files, summary->set->count);
    if (!summary->part)
        printf("%-13s %s%s\n", "complete", total->complete ? "yes" : "no: ", PRINTABLE(total->why));
    printf("%-13s %" PRIu64, "files", total->files);
    if (summary->captures > 1)
        printf(", of %" PRIu64 " captures", summary->captures);
    if (total->removed_files > 0)
        printf(", files 1 to %" PRIu32 " were removed by the ring", total->removed_files);
    putchar('\n');
    if (!summary->part)
        print_size(total);
    if (summary->captures > 1) {
        each_capture(summary, print_capture, NULL);
    } else {
        print_ticks(summary);
        print_description(summary);
    }
    print_counts("by type", summary->tally.types, total->records, true);
    print_counts("by processor", summary->tally.processors, total->records, false);
    print_counts("by size", summary->tally.sizes, total->records, false);
}

/* Reads the traces, or the selected part of them. */
static int read_set(struct summary *summary, struct trace_set *set, const struct input_paths *paths,
                    const struct record_input_settings *settings, struct input_report *report,
                    struct bt_error *error)
{
    if (!settings->filter && !settings->time.given)
        return trace_set_read(set, paths, &settings->trace, report, &summary->tally, error);
    summary->part = settings;
    return trace_select(set, paths, settings, report, &summary->tally, error);
}

/* Whether there is anything to summarize: each file that cannot be opened is reported already. */
static bool any_opened(const struct trace_set *set)
{
    bool any = false;
    for (size_t i = 0; i < set->count; i++)
        any |= set->files[i].opened;
    return any;
}

static int info_main(struct invocation *call)
{
    struct info_settings settings = {.input = {.count = UINT64_MAX}};
    struct input_report report;
    struct trace_set set = {.files = NULL, .count = 0, .capacity = 0};
    struct summary summary = {.captures = 0};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (input_trace_check(&settings.input.trace, &error) < 0)
        return command_usage(call, "%s", error.message);
    struct input_paths paths;
    input_report_begin(&report, true);
    input_paths_take(&paths, call->count, call->arguments);
    if (read_set(&summary, &set, &paths, &settings.input, &report, &error) < 0) {
        input_report_error(&report, &error);
    } else if (any_opened(&set)) {
        summarise(&summary, &set);
        progress_clear(&report.progress);
        if (!settings.json)
            print_text(&summary);
        else if (print_json(&summary) < 0)
            report.status = command_no_memory();
        /* Without a header, completeness is unknown: extra bytes are not an error. */
        if (summary.lacking && report.status == 0)
            report.status = STATUS_DATA;
    }
    trace_set_free(&set);
    input_report_end(&report);
    return report.status;
}

const struct command info_command = {
    .name = "info",
    .operands = "[FILE...]",
    .summary = "summarize traces: records, losses, ticks, sizes, counts",
    .details = "Reads whole traces and summarizes them. The files of one capture, in any "
               "order, have one summary; -f and --time summarize a part. Without FILE, or if it is "
               "-, standard input is read.",
    .options = info_options,
    .run = info_main,
    .group = NULL,
    .reads_captures = true};
