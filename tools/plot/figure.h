/*
 * Figures for people: curves, stacked areas, bars and heat maps, drawn by gnuplot(1) as SVG or PNG.
 *
 * A figure is described by plain structures that the caller fills and keeps; nothing is copied.
 * Texts are UTF-8 and may hold anything: they are shown, never taken for commands.
 */
#ifndef TOOLS_PLOT_FIGURE_H
#define TOOLS_PLOT_FIGURE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_WIDTH      1200u /* pixels; at 100 % its letters are as large as a book's */
#define FIGURE_HEIGHT     800u
#define FIGURE_PIXELS_MIN 200u
#define FIGURE_PIXELS_MAX 10000u

enum figure_format { FIGURE_SVG, FIGURE_PNG };

enum figure_scale {
    FIGURE_LINEAR,
    FIGURE_LOG2, /* ticks at powers of 2 */
    FIGURE_LOG10 /* values of 0 and less are left out of logarithmic axes */
};

/* How the numbers at an axis are written. */
enum figure_unit {
    FIGURE_NUMBER,  /* 500, 20 k, 1.5 M */
    FIGURE_BYTES,   /* 64 B, 4 KiB, 1 MiB */
    FIGURE_SHARE,   /* the number 0.25 is written 25 % */
    FIGURE_SECONDS, /* 20 µs, 1.5 ms, 3 s, 5 min, 2 h, 3 d */
    FIGURE_ADDRESS  /* 0x0001f000 */
};

struct figure_tick {
    double at;
    const char *label;
};

struct figure_axis {
    const char *label; /* "cache size"; NULL: none */
    enum figure_scale scale;
    enum figure_unit unit;
    double from, to; /* shown; from == to: what the data needs, linear y axes from 0 on */
    const struct figure_tick *ticks; /* in place of computed ones; NULL: those */
    size_t tick_count;
};

enum figure_look {
    FIGURE_LINE,
    FIGURE_POINTS, /* a line with a mark at each point: for few points */
    FIGURE_STEPS,  /* y holds from its x to the next one */
    FIGURE_AREA,   /* steps, filled from the areas before it in the panel upwards; these all have
                      the same x, ascending */
    FIGURE_BARS    /* the bars of all series side by side at x; same x likewise */
};

struct figure_series {
    const char *name; /* in the legend; NULL: not there */
    enum figure_look look;
    const double *x, *y; /* count of each; a y that is NaN leaves a hole */
    size_t count;
    const double *low, *high; /* NULL, or of steps: a band from low to high around each y */
    uint32_t color; /* 0xRRGGBB; 0: the next of a palette that the colour-blind can tell apart */
};

/* Cells of one size that fill the panel, coloured by their values. */
struct figure_heat {
    size_t columns, rows;
    const double *values; /* [row * columns + column], row 0 lowest; NaN: nothing there */
    double x_from, x_to;  /* outer edges */
    double y_from, y_to;
    bool falling;          /* the y axis goes downwards: row 0 is the topmost */
    const char *label;     /* of the colours: "requests" */
    enum figure_unit unit; /* of the values */
    bool logarithmic;      /* values of 0 are then nothing */
    bool written;          /* write the values into the cells: for few of them */
};

/* An interval of x, or of y, that is marked. */
struct figure_interval {
    double from, to; /* equal: a line */
    bool vertical;   /* of y; else of x */
    bool is_break;   /* grey: the axis leaves something out; else hatched: something is missing */
};

struct figure_panel {
    const char *title; /* NULL: none */
    struct figure_axis x, y;
    const struct figure_series *series;
    size_t series_count;
    const struct figure_heat *heat; /* NULL: none */
    const struct figure_interval *intervals;
    size_t interval_count;
    const char *missing_name; /* of hatched intervals in the legend; NULL: not there */
    const char *break_name;   /* likewise of breaks */
};

struct figure {
    const char *title;
    const char *subtitle;   /* a smaller line below; NULL: none */
    unsigned width, height; /* pixels; 0: FIGURE_WIDTH, FIGURE_HEIGHT */
    const struct figure_panel *panels;
    size_t panel_count;
    size_t columns; /* of panels side by side; 0: 1 */
};

/* Where a figure goes. */
struct figure_output {
    const char *path; /* "-": standard output */
    enum figure_format format;
};

/*
 * Sees, before long work, whether a figure can be made: finds the format, which format ("svg",
 * "png"; NULL: none) or else the path's suffix says, looks for gnuplot, and sees that the figure
 * takes the place of none of the count inputs, "-" being standard input. The path stays the
 * caller's. 0; BT_USAGE; BT_IO where gnuplot is missing, with what to install.
 */
int figure_output_prepare(struct figure_output *output, const char *path, const char *format,
                          int count, char *const *inputs, struct bt_error *error);

/* Whether a picture can have this size. 0 or BT_USAGE. */
int figure_size_check(unsigned width, unsigned height, struct bt_error *error);

/*
 * Draws the figure. The file gets its name when it is whole, in place of what had it. 0, BT_USAGE
 * (a size that cannot be), or BT_IO, BT_FULL, BT_CLOSED, BT_MEMORY.
 */
int figure_write(const struct figure *figure, const struct figure_output *output,
                 struct bt_error *error);

#endif
