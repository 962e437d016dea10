/* One panel of a figure, written to a script. Private to figure.c and canvas*.c. */
#ifndef TOOLS_PLOT_CANVAS_INTERNAL_H
#define TOOLS_PLOT_CANVAS_INTERNAL_H

#include "tools/plot/axis.h"
#include "tools/plot/figure.h"
#include "tools/plot/gnuplot_script.h"

struct canvas {
    struct gnuplot_script *script;
    const struct figure_panel *panel;
    enum figure_format format;
    unsigned number;        /* number within the figure */
    unsigned width, height; /* size of the panel in pixels */
    bool small;             /* the picture has the width of a column */
    struct axis x, y;
    size_t elements; /* elements of the plot command so far */
};

/* Writes a panel; its size and origin are set. */
void canvas_put(struct canvas *canvas);

/* Whether the legend's names do not fit into the panel, so that it has none. */
bool canvas_lacks_legend(const struct canvas *canvas);

/* Characters available for a name in the legend. */
static inline size_t canvas_legend_characters(const struct canvas *canvas)
{
    return canvas->width > 24 * 26 ? canvas->width / 26 : 24;
}

/* Begins another element of the plot command. */
void canvas_element(struct canvas *canvas);

/* Range of an axis that the series need; low > high without data. */
void canvas_series_range(const struct figure_panel *panel, bool of_y, double *low, double *high);

/* Writes the data of all series as blocks before the plot command, then its elements. */
void canvas_series_data(struct canvas *canvas);
void canvas_series_elements(struct canvas *canvas);

/* Colour and dashes of a curve, counted from 0. */
struct canvas_look {
    size_t color, dash;
};

/* The look of a series, by its position and, if it has two dimensions, its names. */
struct canvas_look canvas_series_look(const struct figure_panel *panel, size_t number);

/* The name that a series, the first of that name, adds to the legend; NULL: none. second: that of
 * its second dimension. */
const char *canvas_legend_name(const struct figure_panel *panel, size_t number, bool second);

/* Adds the names of both dimensions to the legend. */
void canvas_dimension_names(struct canvas *canvas);

/* Writes how a curve is drawn, with the dashes of that number. */
void canvas_series_style(struct canvas *canvas, size_t number, size_t dash);

/* Writes the heat map: colours and data, then the element; both where there is one only. */
void canvas_heat_data(struct canvas *canvas);
void canvas_heat_elements(struct canvas *canvas);

#endif
