/* One panel of a figure on its way into a script. Used by figure.c and the files beside it. */
#ifndef TOOLS_PLOT_CANVAS_INTERNAL_H
#define TOOLS_PLOT_CANVAS_INTERNAL_H

#include "tools/plot/axis.h"
#include "tools/plot/figure.h"
#include "tools/plot/gnuplot_script.h"

struct canvas {
    struct gnuplot_script *script;
    const struct figure_panel *panel;
    enum figure_format format;
    unsigned number;        /* of the panel in its figure */
    unsigned width, height; /* of the panel, pixels */
    struct axis x, y;
    size_t elements; /* of the plot command so far */
};

/* Writes a whole panel; its size and origin have been set. */
void canvas_put(struct canvas *canvas);

/* Characters that a name in the legend has room for. */
static inline size_t canvas_legend_characters(const struct canvas *canvas)
{
    return canvas->width > 24 * 26 ? canvas->width / 26 : 24;
}

/* Begins a further element of the plot command. */
void canvas_element(struct canvas *canvas);

/* The smallest and the largest that the series need of the axis; low > high where nothing does. */
void canvas_series_range(const struct figure_panel *panel, bool of_y, double *low, double *high);

/* The data of all series, as blocks in front of the plot command; then its elements. */
void canvas_series_data(struct canvas *canvas);
void canvas_series_elements(struct canvas *canvas);

/* The same of the heat map: colours and data, and the element; both where there is one only. */
void canvas_heat_data(struct canvas *canvas);
void canvas_heat_elements(struct canvas *canvas);

#endif
