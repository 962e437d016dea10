#include "tools/capture_report.h"

#include "formats/base/clock.h"
#include "tools/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_INTERVAL_NS 250000000
#define LINE_BYTES       160

void capture_report_begin(struct capture_report *report, bool quiet)
{
    *report = (struct capture_report){.wanted = !quiet && isatty(STDERR_FILENO)};
    report->shown_ns = clock_monotonic_ns();
}

void capture_report_clear(struct capture_report *report)
{
    if (report->shown)
        fputs("\r\033[K", stderr);
    report->shown = false;
}

static double ratio(const struct capture_status *status)
{
    return status->compressed_bytes > 0
               ? (double)status->raw_bytes / (double)status->compressed_bytes
               : 0;
}

/* "12345 records, 5.20 M/s, 62.4 MB/s, 3.30 to 1, queue 12 %, lost 0" since the last such line. */
static void write_line(struct capture_report *report, struct capture *capture, char *line)
{
    struct capture_status status;
    capture_get_status(capture, &status);
    double seconds = (double)(status.elapsed_ns - report->last_elapsed_ns) / 1e9;
    double rate = seconds > 0 && status.records >= report->last_records
                      ? (double)(status.records - report->last_records) / seconds
                      : 0;
    report->last_records = status.records;
    report->last_elapsed_ns = status.elapsed_ns;
    unsigned fill = status.queue_size ? 100 * status.queue_fill / status.queue_size : 0;
    snprintf(line, LINE_BYTES,
             "%" PRIu64 " records, %.2f M/s, %.1f MB/s, %.2f to 1, queue %u %%, lost %" PRIu64 "%s",
             status.records, rate / 1e6, rate * RECORD_BYTES / 1e6, ratio(&status), fill,
             words_lost(status.lost), status.absent.code ? ", board away" : "");
}

void capture_report_live(struct capture_report *report, struct capture *capture)
{
    char line[LINE_BYTES];
    if (!report->wanted || clock_monotonic_ns() - report->shown_ns < LINE_INTERVAL_NS)
        return;
    report->shown_ns = clock_monotonic_ns();
    write_line(report, capture, line);
    fprintf(stderr, "\r\033[K%s", line);
    report->shown = true;
}

void capture_report_line(struct capture_report *report, struct capture *capture)
{
    char line[LINE_BYTES];
    capture_report_clear(report);
    write_line(report, capture, line);
    fprintf(stderr, "bustap: %s\n", line);
}

void capture_report_notes(struct capture_report *report, struct capture *capture)
{
    char note[CAPTURE_NOTE_BYTES];
    while (capture_take_note(capture, note, sizeof note)) {
        capture_report_clear(report);
        fprintf(stderr, "bustap: %s\n", note);
    }
}

void capture_report_summary(const struct capture_status *status)
{
    char raw[WORDS_SIZE_BYTES];
    char compressed[WORDS_SIZE_BYTES];
    char loss[WORDS_LOSS_BYTES];
    double seconds = (double)status->elapsed_ns / 1e9;
    uint64_t lost = words_lost(status->lost);
    fprintf(stderr, "bustap: %s: %" PRIu64 " records in %" PRIu64 " %s, %" PRIu64 " lost%s%s%s\n",
            capture_end_name(status->end), status->records, status->files,
            status->files == 1 ? "file" : "files", lost, lost ? " (" : "",
            words_loss(loss, status->lost), lost ? ")" : "");
    if (status->gaps > 0)
        fprintf(stderr, "bustap: the board was away %" PRIu64 " %s, %.1f s in all\n", status->gaps,
                status->gaps == 1 ? "time" : "times", (double)status->gap_ns / 1e9);
    fprintf(stderr, "bustap: %s of records in %s, %.2f to 1; %.2f s, %.2f million records/s\n",
            words_size(raw, (double)status->raw_bytes),
            words_size(compressed, (double)status->compressed_bytes), ratio(status), seconds,
            seconds > 0 ? (double)status->records / seconds / 1e6 : 0);
}
