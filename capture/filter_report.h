/* What reports say of the filter of a capture. */
#ifndef CAPTURE_FILTER_REPORT_H
#define CAPTURE_FILTER_REPORT_H

#include "capture/capture.h"

#define FILTER_REPORT_BYTES 700u

/* Which part of the filter the board has applied, which the host, and how many requests each has
 * excluded: "filter: the board applied it, and excluded 12 requests"; "" without a filter. Returns
 * text. */
char *filter_report(char text[FILTER_REPORT_BYTES], const struct capture_status *status);

/* What looks like a mistake in a valid expression (expression_warning); "": nothing. Returns text.
 */
char *filter_report_doubt(char text[FILTER_REPORT_BYTES], const char *expression);

#endif
