#include "tests/support/trace_judge.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int judge_captures(struct trace_verdict *verdict, const struct trace_set *set)
{
    bool complete = true;
    bool consistent = true;
    int captures = 0;
    size_t count;
    for (size_t first = 0; (count = trace_set_capture(set, first)) > 0; first += count) {
        trace_set_judge(verdict, set->files + first, count);
        complete = complete && verdict->complete;
        consistent = consistent && verdict->complete == (verdict->why[0] == '\0');
        captures++;
    }
    verdict->complete = complete;
    verdict->last = NULL; /* freed with the set */
    return consistent ? captures : -1;
}

int trace_judge(struct trace_verdict *verdict, char *const *paths, int count)
{
    const struct input_trace_settings settings = {.byu_only = true};
    struct input_report report;
    struct input_paths input;
    struct trace_set set;
    struct bt_error error;
    int captures = -1;
    input_paths_take(&input, count, (char **)(uintptr_t)paths);
    fflush(stderr);
    int standard_error = dup(STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    input_report_begin(&report, true);
    if (trace_set_read(&set, &input, &settings, &report, NULL, &error) == 0) {
        captures = judge_captures(verdict, &set);
        trace_set_free(&set);
    }
    input_report_end(&report);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    close(null);
    return captures;
}
