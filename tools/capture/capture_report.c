#include "tools/capture/capture_report.h"

#include "capture/filter_report.h"
#include "formats/base/clock.h"
#include "formats/base/printable.h"
#include "tools/common/live_line.h"
#include "tools/common/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_INTERVAL_NS 250000000
#define STALL_MS         1000
#define SAY_BYTES        (PRINTABLE_BYTES + 100u)
#define CLEAR            "\r\033[K"

int capture_report_begin(struct capture_report *report, bool quiet, struct bt_error *error)
{
    *report = (struct capture_report){.wanted = !quiet && isatty(STDERR_FILENO)};
    report->shown_ns = clock_monotonic_ns();
    report->lines = line_queue_new(STDERR_FILENO, "bustap: ", error);
    return report->lines ? 0 : BT_MEMORY;
}

void capture_report_end(struct capture_report *report, int timeout_ms)
{
    line_queue_free(report->lines, timeout_ms);
    report->lines = NULL;
}

void capture_report_clear(struct capture_report *report)
{
    if (report->shown)
        line_queue_put(report->lines, CLEAR, strlen(CLEAR));
    report->shown = false;
}

void capture_report_say(struct capture_report *report, const char *format, ...)
{
    char line[SAY_BYTES] = "bustap: ";
    size_t head = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + head, sizeof line - head - 1, format, arguments);
    va_end(arguments);
    printable_make(line);
    /* a burst of lines may exceed the queue: wait for the reader */
    report->stalled = !line_queue_wait(report->lines, report->stalled ? 0 : STALL_MS);
    capture_report_clear(report);
    size_t size = strlen(line);
    line[size] = '\n';
    line_queue_put(report->lines, line, size + 1);
}

void capture_report_sentence(void *context, const char *sentence)
{
    const struct capture_report *report = context;
    char line[SAY_BYTES];
    snprintf(line, sizeof line - 1, "bustap: %s", sentence);
    printable_make(line);
    if (report->wanted) /* a live line may be shown */
        line_queue_put(report->lines, CLEAR, strlen(CLEAR));
    size_t size = strlen(line);
    line[size] = '\n';
    line_queue_put(report->lines, line, size + 1);
}

bool capture_report_wait(struct capture_report *report, struct file_command *command, int poll_ms,
                         bool (*is_enough)(void *context), void *context)
{
    if (!command || file_command_wait(command, poll_ms))
        return false;
    capture_report_say(report, "waiting for --exec-on-file: %" PRIu64 " left; a signal ends this",
                       file_command_counts(command).waiting);
    while (!file_command_wait(command, poll_ms))
        if (is_enough(context))
            return true;
    return false;
}

bool capture_report_command_failed(const struct file_command_counts *counts)
{
    return counts->failed || counts->skipped || counts->waiting;
}

int capture_report_failure(struct capture_report *report, const struct bt_error *error)
{
    capture_report_say(report, "%s", error->message);
    return bt_exit_status(error->code);
}

/* Maximum length of a line: the last column stays free, after which some terminals wrap. */
static size_t line_width(void)
{
    struct winsize size = {.ws_col = 0};
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col - 1u;
    long width = columns ? strtol(columns, NULL, 10) : 0;
    return width > 0 && width < (long)LIVE_LINE_BYTES ? (size_t)width - 1 : 79;
}

/* Writes the live line, with the rate since the previous one. */
static char *write_line(struct capture_report *report, struct capture *capture, char *line,
                        size_t width)
{
    struct capture_status status;
    capture_get_status(capture, &status);
    double seconds = (double)(status.elapsed_ns - report->last_elapsed_ns) / 1e9;
    double rate = seconds > 0 && status.records >= report->last_records
                      ? (double)(status.records - report->last_records) / seconds
                      : 0;
    report->last_records = status.records;
    report->last_elapsed_ns = status.elapsed_ns;
    return live_line(line, &status, rate, width);
}

void capture_report_live(struct capture_report *report, struct capture *capture)
{
    char text[LIVE_LINE_BYTES];
    char line[LIVE_LINE_BYTES + sizeof CLEAR];
    if (!report->wanted || clock_monotonic_ns() - report->shown_ns < LINE_INTERVAL_NS ||
        !line_queue_wait(report->lines, 0))
        return;
    report->shown_ns = clock_monotonic_ns();
    int size = sprintf(line, CLEAR "%s", write_line(report, capture, text, line_width()));
    line_queue_put(report->lines, line, (size_t)size);
    report->shown = true;
}

void capture_report_line(struct capture_report *report, struct capture *capture)
{
    char line[LIVE_LINE_BYTES];
    capture_report_say(report, "%s", write_line(report, capture, line, sizeof line - 1));
}

void capture_report_notes(struct capture_report *report, struct capture *capture)
{
    char note[CAPTURE_NOTE_BYTES];
    while (capture_take_note(capture, note, sizeof note))
        capture_report_say(report, "%s", note);
}

/* What the trigger found, and the match that stopped the capture. */
static void say_trigger(struct capture_report *report, const struct capture_status *status)
{
    const struct trigger_counts *trigger = &status->trigger;
    if (status->selects)
        capture_report_say(
            report,
            "trigger: %" PRIu64 " %s in %" PRIu64 " %s; %" PRIu64 " records outside were not saved",
            trigger->matches, trigger->matches == 1 ? "match" : "matches", trigger->windows,
            trigger->windows == 1 ? "window" : "windows", trigger->outside);
    if (trigger->short_windows > 0)
        capture_report_say(report,
                           "%" PRIu64 " %s too little before the match: make the memory larger "
                           "with --ring",
                           trigger->short_windows,
                           trigger->short_windows == 1 ? "window has" : "windows have");
    if (trigger->stopped)
        capture_report_say(report, "stopped by a match: record %" PRIu64 " at tick %" PRIu64,
                           trigger->stop_index, trigger->stop_tick);
}

/* How long the board stalled its bus. */
static void say_stalls(struct capture_report *report, const struct capture_status *status)
{
    const struct source_totals *source = &status->source;
    char length[48];
    const double stalled_s =
        status->clock_hz > 0 ? (double)source->stalled / (double)status->clock_hz : 0;
    if (source->stalls == 0)
        return;
    if (stalled_s > 2 * (double)status->elapsed_ns / 1e9 + 1) { /* clocks differ by less */
        capture_report_say(report,
                           "the board says that it stalled the bus %" PRIu64 " %s, for %" PRIu64
                           " ticks: that is longer than the capture ran, its count is wrong",
                           source->stalls, source->stalls == 1 ? "time" : "times", source->stalled);
        return;
    }
    if (status->clock_hz > 0)
        snprintf(length, sizeof length, "%.3f s", stalled_s);
    else
        snprintf(length, sizeof length, "%" PRIu64 " ticks", source->stalled);
    capture_report_say(report,
                       "the board stalled the bus %" PRIu64 " %s, %s in total: times are those of "
                       "the slowed target",
                       source->stalls, source->stalls == 1 ? "time" : "times", length);
}

void capture_report_summary(struct capture_report *report, const struct capture_status *status)
{
    char raw[WORDS_SIZE_BYTES];
    char compressed[WORDS_SIZE_BYTES];
    char loss[LOSS_TEXT_BYTES];
    char filter[FILTER_REPORT_BYTES];
    double seconds = (double)status->elapsed_ns / 1e9;
    uint64_t lost = words_lost(status->lost);
    capture_report_say(report, "%s: %" PRIu64 " records in %" PRIu64 " %s, %" PRIu64 " lost%s%s%s",
                       capture_end_name(status->end), status->records, status->files,
                       status->files == 1 ? "file" : "files", lost, lost ? " (" : "",
                       loss_text(loss, status->lost), lost ? ")" : "");
    if (filter_report(filter, status)[0])
        capture_report_say(report, "%s", filter);
    say_trigger(report, status);
    say_stalls(report, status);
    if (status->gaps > 0)
        capture_report_say(report, "%" PRIu64 " %s, %.1f s in total: the board was disconnected",
                           status->gaps, status->gaps == 1 ? "gap" : "gaps",
                           (double)status->gap_ns / 1e9);
    if (status->chosen_gaps > 0)
        capture_report_say(report,
                           "%" PRIu64 " %s, chosen: the capture omits the instructions there",
                           status->chosen_gaps, status->chosen_gaps == 1 ? "gap" : "gaps");
    if (status->switches > 0)
        capture_report_say(report, "%" PRIu64 " %s of threads, which have %" PRIu64 " %s a turn",
                           status->switches, status->switches == 1 ? "switch" : "switches",
                           status->quantum, status->quantum == 1 ? "instruction" : "instructions");
    capture_report_say(report, "%s of records in %s, %.2f to 1; %.2f s, %.2f million records/s",
                       words_size(raw, (double)status->raw_bytes),
                       words_size(compressed, (double)status->compressed_bytes),
                       words_ratio(status->raw_bytes, status->compressed_bytes), seconds,
                       seconds > 0 ? (double)status->records / seconds / 1e6 : 0);
}
