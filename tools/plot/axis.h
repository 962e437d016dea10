/* Where an axis begins and ends, its ticks, and how they are labelled. */
#ifndef TOOLS_PLOT_AXIS_H
#define TOOLS_PLOT_AXIS_H

#include "tools/plot/figure.h"

#define AXIS_TICKS_MAX   64u
#define AXIS_LABEL_BYTES 24u

struct axis_tick {
    double at;
    char label[AXIS_LABEL_BYTES]; /* UTF-8 */
};

/* An axis, laid out. */
struct axis {
    double from, to; /* from < to, finite, and above 0 on a logarithmic scale */
    size_t tick_count;
    struct axis_tick ticks[AXIS_TICKS_MAX]; /* ascending */
};

/* Whether the scale is logarithmic. */
bool axis_is_logarithmic(const struct figure_axis *description);

/*
 * Lays out an axis for data from low to high (low > high: there are none), with about `most` ticks.
 * rounded: the ends go outwards to ticks, and a linear axis begins at 0 where its data are not
 * negative; else it ends where its data do.
 */
void axis_lay_out(struct axis *axis, const struct figure_axis *description, double low, double high,
                  unsigned most, bool rounded);

/* "1.5 k", "4 KiB", "25 %": one number for itself, about 3 digits; label has room for
 * AXIS_LABEL_BYTES. Returns label. */
char *axis_label(char *label, enum figure_unit unit, double value);

#endif
