/* The live line of a capture, shortened to the width of the terminal. */
#ifndef TOOLS_COMMON_LIVE_LINE_H
#define TOOLS_COMMON_LIVE_LINE_H

#include "capture/capture.h"

#define LIVE_LINE_BYTES 200u

/*
 * "12345 records, 5.20 M/s, 62.4 MB/s, 3.30 to 1, queue 12 %, lost 0, board down". Omits parts
 * that do not fit into width columns, the least important first, the losses last. rate is in
 * records per second. Returns line.
 */
char *live_line(char line[LIVE_LINE_BYTES], const struct capture_status *status, double rate,
                size_t width);

#endif
