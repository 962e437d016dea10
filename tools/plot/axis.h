/* Range, ticks and labels of an axis. */
#ifndef TOOLS_PLOT_AXIS_H
#define TOOLS_PLOT_AXIS_H

#include "tools/plot/figure.h"

#define AXIS_TICKS_MAX   64u
#define AXIS_LABEL_BYTES 24u

struct axis_tick {
    double at;
    char label[AXIS_LABEL_BYTES]; /* UTF-8 */
};

/* A laid-out axis. */
struct axis {
    double from, to; /* from < to, finite; above 0 on a logarithmic scale */
    size_t tick_count;
    struct axis_tick ticks[AXIS_TICKS_MAX]; /* ascending */
};

/* Whether the scale is logarithmic. */
bool axis_is_logarithmic(const struct figure_axis *description);

/*
 * Lays out an axis for data from low to high (low > high: no data), with about `most` ticks.
 * rounded: the ends are rounded outwards to ticks, and a linear axis of non-negative data begins at
 * 0; otherwise the axis ends where the data end.
 */
void axis_lay_out(struct axis *axis, const struct figure_axis *description, double low, double high,
                  unsigned most, bool rounded);

/* Formats a single number with about 3 digits, such as "1.5 k", "4 KiB" or "25 %", into label, of
 * AXIS_LABEL_BYTES. Returns label. */
char *axis_label(char *label, enum figure_unit unit, double value);

#endif
