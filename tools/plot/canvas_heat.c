#include "tools/plot/canvas_internal.h"

#include <math.h>
#include <string.h>

#define PIXELS_PER_COLOR_TICK 60u
#define LETTER                8u /* average width in pixels */
#define SMALL_LETTER          6u
#define CELLS_DRAWN_MAX                                                                            \
    4096u /* number of cells drawn one by one, because some viewers blur images in SVG */

static bool is_shown(const struct figure_heat *heat, double value)
{
    return isfinite(value) && (value > 0 || !heat->logarithmic);
}

static void value_range(const struct figure_heat *heat, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < heat->columns * heat->rows; i++)
        if (is_shown(heat, heat->values[i])) {
            *low = fmin(*low, heat->values[i]);
            *high = fmax(*high, heat->values[i]);
        }
}

/* Light to dark in even steps of lightness; the lightest is visible on white paper. */
static void put_colors(struct canvas *canvas, const struct figure_heat *heat)
{
    const struct figure_axis description = {
        .unit = heat->unit, .scale = heat->logarithmic ? FIGURE_LOG10 : FIGURE_LINEAR};
    struct axis axis;
    double low;
    double high;
    value_range(heat, &low, &high);
    axis_lay_out(&axis, &description, low, high, canvas->height / PIXELS_PER_COLOR_TICK + 1,
                 !heat->logarithmic);
    gnuplot_script_put(canvas->script,
                       "set palette defined (0 \"#7ad151\", 0.25 \"#22a884\", 0.5 \"#2a788e\", "
                       "0.75 \"#414487\", 1 \"#2b0140\")\n");
    gnuplot_script_put(canvas->script, "%s logscale cb\nset cbrange [",
                       heat->logarithmic ? "set" : "unset");
    gnuplot_script_number(canvas->script, axis.from);
    gnuplot_script_put(canvas->script, ":");
    gnuplot_script_number(canvas->script, axis.to);
    size_t longest = 0;
    for (size_t i = 0; i < axis.tick_count; i++) {
        size_t length = strlen(axis.ticks[i].label);
        longest = length > longest ? length : longest;
    }
    gnuplot_script_put(canvas->script, "]\nset cblabel ");
    gnuplot_script_quote(canvas->script, heat->label,
                         canvas->height / (canvas->small ? SMALL_LETTER : LETTER));
    /* gnuplot leaves room for short labels only */
    gnuplot_script_put(canvas->script, " offset %.2g, 0\nset rmargin %zu\nset cbtics out (",
                       0.3 + 0.3 * (double)longest, 5 + longest);
    for (size_t i = 0; i < axis.tick_count; i++) {
        gnuplot_script_put(canvas->script, i > 0 ? ", " : "");
        gnuplot_script_quote_format(canvas->script, axis.ticks[i].label, 0);
        gnuplot_script_number(canvas->script, axis.ticks[i].at);
    }
    gnuplot_script_put(canvas->script, ")\n");
}

/* gnuplot draws no image of a single row or column: split it into two of half the size. */
static size_t repeats(size_t count)
{
    return count == 1 ? 2 : 1;
}

void canvas_heat_data(struct canvas *canvas)
{
    const struct figure_heat *heat = canvas->panel->heat;
    if (!heat)
        return;
    put_colors(canvas, heat);
    gnuplot_script_put(canvas->script, "$heat%u << ENDOFDATA\n", canvas->number);
    for (size_t i = 0; i < heat->rows * repeats(heat->rows); i++) {
        size_t row = i / repeats(heat->rows);
        for (size_t j = 0; j < heat->columns * repeats(heat->columns); j++) {
            double value = heat->values[row * heat->columns + j / repeats(heat->columns)];
            gnuplot_script_number(canvas->script, is_shown(heat, value) ? value : NAN);
        }
        gnuplot_script_put(canvas->script, "\n");
    }
    gnuplot_script_put(canvas->script, "ENDOFDATA\n");
}

/* Writes the values into the cells, in white on dark cells. */
static void put_values(struct canvas *canvas, const struct figure_heat *heat, double x_step,
                       double y_step)
{
    double low;
    double high;
    value_range(heat, &low, &high);
    double middle = heat->logarithmic ? sqrt(low) * sqrt(high) : (fmin(low, 0) + high) / 2;
    for (size_t i = 0; i < heat->rows * heat->columns; i++) {
        char label[AXIS_LABEL_BYTES];
        double value = heat->values[i];
        if (!is_shown(heat, value))
            continue;
        gnuplot_script_put(canvas->script, "set label ");
        gnuplot_script_quote(canvas->script, axis_label(label, heat->unit, value), 0);
        gnuplot_script_put(canvas->script, " at %.12g, %.12g center front textcolor rgb \"%s\"\n",
                           heat->x_from + ((double)(i % heat->columns) + 0.5) * x_step,
                           heat->y_from + ((double)(i / heat->columns) + 0.5) * y_step,
                           value > middle ? "#ffffff" : "#000000");
    }
}

void canvas_heat_elements(struct canvas *canvas)
{
    const struct figure_heat *heat = canvas->panel->heat;
    if (!heat)
        return;
    double x_step = (heat->x_to - heat->x_from) / (double)heat->columns;
    double y_step = (heat->y_to - heat->y_from) / (double)heat->rows;
    if (heat->written)
        put_values(canvas, heat, x_step, y_step);
    bool drawn = canvas->format == FIGURE_SVG && heat->columns * heat->rows <= CELLS_DRAWN_MAX;
    x_step /= (double)repeats(heat->columns);
    y_step /= (double)repeats(heat->rows);
    canvas_element(canvas);
    gnuplot_script_put(
        canvas->script,
        "$heat%u matrix using (%.17g + ($1 + 0.5) * %.17g):(%.17g + ($2 + 0.5) * %.17g):3 "
        "with image%s notitle",
        canvas->number, heat->x_from, x_step, heat->y_from, y_step, drawn ? " pixels" : "");
}
