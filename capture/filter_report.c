#include "capture/filter_report.h"

#include "formats/record/expression.h"

#include <inttypes.h>
#include <stdio.h>

char *filter_report(char text[FILTER_REPORT_BYTES], const struct capture_status *status)
{
    const struct source_totals *source = &status->source;
    const uint64_t by_board = source->filtered - source->removed;
    const char *requests = by_board == 1 ? "request" : "requests";
    text[0] = '\0';
    if (!status->filter[0])
        return text;
    if (status->quantum > 0) /* a program: there is no board */
        snprintf(text, FILTER_REPORT_BYTES,
                 "filter: applied while the program was executed; it left out %" PRIu64 " %s",
                 source->filtered, source->filtered == 1 ? "record" : "records");
    else if (!status->host_filters)
        snprintf(text, FILTER_REPORT_BYTES,
                 "filter: the board applied it, and excluded %" PRIu64 " %s", by_board, requests);
    else if (!status->board_filter[0])
        snprintf(text, FILTER_REPORT_BYTES,
                 "filter: no part of it is for a board; the host removed %" PRIu64 " %s",
                 source->removed, source->removed == 1 ? "request" : "requests");
    else
        snprintf(text, FILTER_REPORT_BYTES,
                 "filter: the board applied %s, and excluded %" PRIu64
                 " %s; the host applied the rest, and removed %" PRIu64,
                 status->board_filter, by_board, requests, source->removed);
    return text;
}

char *filter_report_doubt(char text[FILTER_REPORT_BYTES], const char *expression)
{
    struct expression *parsed = NULL;
    text[0] = '\0';
    if (expression_parse(&parsed, expression, NULL, NULL) == 0 && expression_warning(parsed))
        snprintf(text, FILTER_REPORT_BYTES, "%s", expression_warning(parsed));
    expression_free(parsed);
    return text;
}
