/*
 * Figures: curves, stacked areas, bars and heat maps, drawn by gnuplot(1) as SVG, PNG or
 * PDF.
 *
 * The caller describes a figure with plain structures, which it owns; nothing is copied. Texts are
 * UTF-8 and may hold any characters; they are never interpreted as commands.
 */
#ifndef TOOLS_PLOT_FIGURE_H
#define TOOLS_PLOT_FIGURE_H

#include "formats/base/error.h"
#include "tools/plot/figure_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIGURE_WIDTH      1200u /* in pixels, 96 an inch: the text is as large as in a book */
#define FIGURE_HEIGHT     800u
#define FIGURE_PIXELS_MIN 200u
#define FIGURE_PIXELS_MAX 10000u

enum figure_format { FIGURE_SVG, FIGURE_PNG, FIGURE_PDF };

enum figure_scale {
    FIGURE_LINEAR,
    FIGURE_LOG2, /* ticks at powers of 2 */
    FIGURE_LOG10 /* logarithmic axes omit values <= 0 */
};

/* Number format of an axis. */
enum figure_unit {
    FIGURE_NUMBER,  /* 500, 20 k, 1.5 M */
    FIGURE_BYTES,   /* 64 B, 4 KiB, 1 MiB */
    FIGURE_SHARE,   /* 0.25 is printed as 25 % */
    FIGURE_SECONDS, /* 20 µs, 1.5 ms, 3 s, 5 min, 2 h, 3 d */
    FIGURE_ADDRESS  /* 0x0001f000 */
};

struct figure_tick {
    double at;
    const char *label;
};

struct figure_axis {
    const char *label; /* such as "cache size"; NULL: none */
    enum figure_scale scale;
    enum figure_unit unit;
    double from, to; /* range shown; from == to: range of the data, from 0 on linear y axes */
    const struct figure_tick *ticks; /* replace the computed ticks; NULL: compute */
    size_t tick_count;
};

enum figure_look {
    FIGURE_LINE,
    FIGURE_POINTS, /* a curve with a mark at each point, for few points */
    FIGURE_STEPS,  /* y is constant from its x to the next one */
    FIGURE_AREA,   /* steps, filled from the previous area of the panel upwards; all areas have the
                      same ascending x */
    FIGURE_BARS    /* bars of all series side by side at x; all have the same x */
};

struct figure_series {
    const char *name;   /* in the legend; NULL: no entry */
    const char *second; /* NULL, or the value of a second dimension: curves of one name have one
                           colour, those of one second name one kind of dashes, and the legend has
                           each name once */
    enum figure_look look;
    const double *x, *y; /* count elements each; a NaN in y interrupts the curve */
    size_t count;
    const double *low, *high; /* NULL, or with steps: a band from low to high around each y */
    uint32_t color;           /* 0xRRGGBB; 0: the next colour of a palette for the colour-blind */
};

/* Cells of equal size that fill the panel, coloured by value. */
struct figure_heat {
    size_t columns, rows;
    const double *values; /* [row * columns + column], row 0 lowest; NaN: empty */
    double x_from, x_to;  /* outer edges */
    double y_from, y_to;
    bool falling;          /* the y axis points down: row 0 is on top */
    const char *label;     /* of the colour scale: "requests" */
    enum figure_unit unit; /* of the values */
    bool logarithmic;      /* logarithmic colour scale; 0 is empty */
    bool written;          /* print the values in the cells; for few cells */
};

/* A marked interval of x or y. */
struct figure_interval {
    double from, to; /* equal: a line */
    bool vertical;   /* interval of y; false: of x */
    bool is_break;   /* grey: a break of the axis; false: hatched, missing data */
};

struct figure_panel {
    const char *title; /* NULL: none */
    struct figure_axis x, y;
    const struct figure_series *series;
    size_t series_count;
    const struct figure_heat *heat; /* NULL: none */
    const struct figure_interval *intervals;
    size_t interval_count;
    const char *missing_name; /* legend entry of hatched intervals; NULL: none */
    const char *break_name;   /* legend entry of breaks; NULL: none */
};

struct figure {
    const char *title;
    const char *subtitle;   /* a smaller line below; NULL: none */
    unsigned width, height; /* in pixels; set by figure_write() from the options */
    const struct figure_panel *panels;
    size_t panel_count;
    size_t columns; /* panels side by side if they have room, else each has a row; 0: 1 */
};

/* Destination of a figure. */
struct figure_output {
    const char *path; /* "-": standard output */
    enum figure_format format;
    struct figure_options options;
};

/*
 * Checks before long work whether a figure can be made: determines the format, from the options or
 * else from the path's suffix; looks for gnuplot; and checks that the figure does not replace any
 * of the count inputs, of which "-" is standard input. The caller keeps path and the texts of the
 * options alive. 0; BT_USAGE; BT_IO without gnuplot, with the package to install.
 */
int figure_output_prepare(struct figure_output *output, const char *path,
                          const struct figure_options *options, int count, char *const *inputs,
                          struct bt_error *error);

/* Whether a picture can have this size. 0 or BT_USAGE. */
int figure_size_check(unsigned width, unsigned height, struct bt_error *error);

/* Whether that many panels, so many side by side if there is room, can be read in a picture of the
 * size that the options choose. 0 or BT_USAGE; figure_write() checks it, too. */
int figure_panels_check(const struct figure_options *options, size_t panels, size_t columns,
                        struct bt_error *error);

/* Draws the figure as the output's options say. The file replaces an existing one only when it is
 * complete. 0, BT_USAGE (impossible size), BT_IO, BT_FULL, BT_CLOSED or BT_MEMORY. */
int figure_write(const struct figure *figure, const struct figure_output *output,
                 struct bt_error *error);

#endif
