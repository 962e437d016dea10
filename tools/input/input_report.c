#include "tools/input/input_report.h"

#include "formats/base/printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void input_report_begin(struct input_report *report, bool quiet_output)
{
    memset(report, 0, sizeof *report);
    progress_begin(&report->progress, quiet_output);
}

void input_report_end(struct input_report *report)
{
    progress_clear(&report->progress);
}

void input_report_error(struct input_report *report, const struct bt_error *error)
{
    progress_clear(&report->progress);
    fprintf(stderr, "bustap: %s\n", error->message);
    int status = bt_exit_status(error->code);
    if (status > report->status)
        report->status = status;
}

void input_report_found(struct input_report *report, const struct bt_error *error)
{
    report->damaged += error->code == BT_DATA;
    report->notes += error->code == BT_NOTE;
    if (error->code == BT_DATA && report->printed == INPUT_REPORT_MAX) {
        report->suppressed++; /* the first one has raised the exit status */
        return;
    }
    report->printed += error->code == BT_DATA;
    input_report_error(report, error);
}

void input_report_end_file(struct input_report *report, const char *path)
{
    if (report->suppressed > 0) {
        progress_clear(&report->progress);
        fprintf(stderr, "bustap: %s: %" PRIu64 " more %s damaged\n",
                strcmp(path, "-") == 0 ? "standard input" : PRINTABLE(path), report->suppressed,
                report->suppressed == 1 ? "place is" : "places are");
    }
    report->printed = 0;
    report->suppressed = 0;
}
