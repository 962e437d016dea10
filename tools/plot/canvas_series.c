#include "tools/plot/canvas_internal.h"

#include <math.h>

#define POINTS_MAX 6000u /* points of a curve; longer curves are reduced to what is visible */
#define BUCKETS    1200u
#define BARS_SHARE 0.8 /* of the available width */

/* Palette of Okabe and Ito for the colour-blind, without yellow. */
static const uint32_t palette[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9,
                                   0x000000, 0x8c6d31, 0x6a3d9a, 0x999999, 0xa50026, 0x66c2a5};
#define PALETTE_SIZE (sizeof palette / sizeof palette[0])

static bool is_shown(const struct figure_axis *axis, double value)
{
    return isfinite(value) && (value > 0 || !axis_is_logarithmic(axis));
}

/* --- ranges ---------------------------------------------------------------------------------- */

/* The end of the last step. */
static double last_edge(const struct figure_series *series, double otherwise)
{
    size_t count = series->count;
    return count > 1 ? 2 * series->x[count - 1] - series->x[count - 2] : otherwise;
}

/* The end of a step. */
static double end_of_step(const struct figure_series *series, size_t point, double otherwise)
{
    return point + 1 < series->count ? series->x[point + 1] : last_edge(series, otherwise);
}

/* Distance between groups of bars. */
static double bar_room(const struct figure_panel *panel)
{
    double room = INFINITY;
    for (size_t s = 0; s < panel->series_count; s++)
        for (size_t i = 1; i < panel->series[s].count; i++)
            room = fmin(room, panel->series[s].x[i] - panel->series[s].x[i - 1]);
    return isfinite(room) && room > 0 ? room : 1;
}

/* Sum of this area and the areas below it at a point. */
static double stacked(const struct figure_panel *panel, size_t series, size_t point)
{
    double sum = 0;
    for (size_t s = 0; s <= series; s++)
        if (panel->series[s].look == FIGURE_AREA && point < panel->series[s].count)
            sum += panel->series[s].y[point];
    return sum;
}

static void widen(const struct figure_axis *axis, double value, double *low, double *high)
{
    if (is_shown(axis, value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

void canvas_series_range(const struct figure_panel *panel, bool of_y, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    double room = bar_room(panel);
    for (size_t s = 0; s < panel->series_count; s++) {
        const struct figure_series *series = &panel->series[s];
        bool bars = series->look == FIGURE_BARS;
        double margin = bars ? room / 2 : 0;
        for (size_t i = 0; i < series->count; i++) {
            double y = series->look == FIGURE_AREA ? stacked(panel, s, i) : series->y[i];
            if (!is_shown(&panel->y, y) || !is_shown(&panel->x, series->x[i]))
                continue;
            if (of_y) { /* bars start at 0 */
                widen(&panel->y, bars ? y / 2 : y, low, high);
                widen(&panel->y, y, low, high);
                if (series->low) {
                    widen(&panel->y, series->low[i], low, high);
                    widen(&panel->y, series->high[i], low, high);
                }
            } else {
                widen(&panel->x, series->x[i] - margin, low, high);
                widen(&panel->x, series->x[i] + margin, low, high);
            }
        }
        if (!of_y && series->count > 0 &&
            (series->look == FIGURE_STEPS || series->look == FIGURE_AREA))
            widen(&panel->x, last_edge(series, series->x[0] + 1), low, high);
    }
}

/* --- data ------------------------------------------------------------------------------------ */

static void put_point(struct canvas *canvas, double x, double y)
{
    if (!is_shown(&canvas->panel->x, x) || !is_shown(&canvas->panel->y, y)) {
        gnuplot_script_put(canvas->script, "\n"); /* an interruption of the curve */
        return;
    }
    gnuplot_script_number(canvas->script, x);
    gnuplot_script_number(canvas->script, y);
    gnuplot_script_put(canvas->script, "\n");
}

/* The index of the column of x, of BUCKETS columns of the panel. */
static unsigned bucket_of(const struct canvas *canvas, double x)
{
    double from = canvas->x.from;
    double to = canvas->x.to;
    if (axis_is_logarithmic(&canvas->panel->x)) {
        x = log(fmax(x, from));
        from = log(from);
        to = log(to);
    }
    double bucket = (x - from) / (to - from) * BUCKETS;
    return bucket > 0 ? bucket < BUCKETS ? (unsigned)bucket : BUCKETS : 0;
}

/* For each column of the panel writes the first, lowest, highest and last point, which draw the
 * same curve as all points. */
static void put_thinned(struct canvas *canvas, const struct figure_series *series)
{
    size_t end;
    for (size_t start = 0; start < series->count; start = end) {
        size_t lowest = start;
        size_t highest = start;
        unsigned bucket = bucket_of(canvas, series->x[start]);
        for (end = start + 1; end < series->count && bucket_of(canvas, series->x[end]) == bucket;
             end++) {
            lowest = series->y[end] < series->y[lowest] ? end : lowest;
            highest = series->y[end] > series->y[highest] ? end : highest;
        }
        size_t points[4] = {start, lowest < highest ? lowest : highest,
                            lowest < highest ? highest : lowest, end - 1};
        for (int i = 0; i < 4; i++)
            if (i == 0 || points[i] != points[i - 1])
                put_point(canvas, series->x[points[i]], series->y[points[i]]);
    }
}

static void put_line(struct canvas *canvas, const struct figure_series *series)
{
    if (series->count > POINTS_MAX) {
        put_thinned(canvas, series);
        return;
    }
    for (size_t i = 0; i < series->count; i++) {
        put_point(canvas, series->x[i], series->y[i]);
        if (series->look == FIGURE_STEPS)
            put_point(canvas, end_of_step(series, i, canvas->x.to), series->y[i]);
    }
}

/* Writes both corners of a step: x, lower edge, upper edge. */
static void put_corners(struct canvas *canvas, const struct figure_series *series, size_t point,
                        double lower, double upper)
{
    double from = series->x[point];
    double to = end_of_step(series, point, canvas->x.to);
    if (isfinite(upper))
        gnuplot_script_put(canvas->script, "%.12g %.12g %.12g\n%.12g %.12g %.12g\n", from, lower,
                           upper, to, lower, upper);
    else
        gnuplot_script_put(canvas->script, "\n");
}

static void put_area(struct canvas *canvas, size_t number)
{
    const struct figure_series *series = &canvas->panel->series[number];
    for (size_t i = 0; i < series->count; i++) {
        double upper = stacked(canvas->panel, number, i);
        put_corners(canvas, series, i, upper - series->y[i], upper);
    }
}

static void put_band(struct canvas *canvas, size_t number)
{
    const struct figure_series *series = &canvas->panel->series[number];
    gnuplot_script_put(canvas->script, "$band%u_%zu << ENDOFDATA\n", canvas->number, number);
    for (size_t i = 0; i < series->count; i++)
        if (series->look == FIGURE_STEPS)
            put_corners(canvas, series, i, series->low[i], series->high[i]);
        else
            gnuplot_script_put(canvas->script, "%.12g %.12g %.12g\n", series->x[i], series->low[i],
                               series->high[i]);
    gnuplot_script_put(canvas->script, "ENDOFDATA\n");
}

static void put_bars(struct canvas *canvas, size_t number)
{
    const struct figure_panel *panel = canvas->panel;
    const struct figure_series *series = &panel->series[number];
    double width = bar_room(panel) * BARS_SHARE / (double)panel->series_count;
    double shift = ((double)number - ((double)panel->series_count - 1) / 2) * width;
    for (size_t i = 0; i < series->count; i++)
        if (is_shown(&panel->y, series->y[i]))
            gnuplot_script_put(canvas->script, "%.12g %.12g %.12g\n", series->x[i] + shift,
                               series->y[i], width);
}

void canvas_series_data(struct canvas *canvas)
{
    for (size_t s = 0; s < canvas->panel->series_count; s++) {
        const struct figure_series *series = &canvas->panel->series[s];
        gnuplot_script_put(canvas->script, "$series%u_%zu << ENDOFDATA\n", canvas->number, s);
        if (series->look == FIGURE_AREA)
            put_area(canvas, s);
        else if (series->look == FIGURE_BARS)
            put_bars(canvas, s);
        else
            put_line(canvas, series);
        gnuplot_script_put(canvas->script, "ENDOFDATA\n");
        if (series->low)
            put_band(canvas, s);
    }
}

/* --- elements -------------------------------------------------------------------------------- */

static unsigned color_of(const struct canvas *canvas, size_t number)
{
    const struct figure_series *series = &canvas->panel->series[number];
    size_t color = canvas_series_look(canvas->panel, number).color;
    return series->color ? series->color & 0xffffff : palette[color % PALETTE_SIZE];
}

void canvas_series_style(struct canvas *canvas, size_t number, size_t dash)
{
    const struct figure_series *series = &canvas->panel->series[number];
    bool steps = series->look == FIGURE_STEPS;
    bool points = !steps && (series->look == FIGURE_POINTS || series->count == 1);
    gnuplot_script_put(canvas->script, "%s linecolor rgb \"#%06x\" linewidth %s dashtype %zu ",
                       points ? "linespoints" : "lines", color_of(canvas, number),
                       canvas->small ? "1.5" : "2", dash + 1);
    if (points)
        gnuplot_script_put(canvas->script, "pointtype %zu pointsize %s ",
                           5 + 2 * (canvas_series_look(canvas->panel, number).color % 5),
                           canvas->small ? "0.6" : "1");
}

/* Further curves repeat the palette's colours with dashes. */
static void put_line_look(struct canvas *canvas, size_t number)
{
    const struct canvas_look look = canvas_series_look(canvas->panel, number);
    bool second = canvas->panel->series[number].second;
    gnuplot_script_put(canvas->script, "using 1:2 with ");
    canvas_series_style(canvas, number, second ? look.dash : look.color / PALETTE_SIZE);
}

/* Draws bands, below all curves. */
static void put_bands(struct canvas *canvas)
{
    for (size_t s = 0; s < canvas->panel->series_count; s++) {
        const struct figure_series *series = &canvas->panel->series[s];
        if (!series->low || series->count == 0)
            continue;
        canvas_element(canvas);
        gnuplot_script_put(
            canvas->script,
            "$band%u_%zu using 1:2:3 with filledcurves fillstyle transparent solid 0.2 "
            "noborder fillcolor rgb \"#%06x\" notitle",
            canvas->number, s, color_of(canvas, s));
    }
}

void canvas_series_elements(struct canvas *canvas)
{
    put_bands(canvas);
    for (size_t s = 0; s < canvas->panel->series_count; s++) {
        const struct figure_series *series = &canvas->panel->series[s];
        unsigned color = color_of(canvas, s);
        if (series->count == 0)
            continue;
        canvas_element(canvas);
        gnuplot_script_put(canvas->script, "$series%u_%zu ", canvas->number, s);
        if (series->look == FIGURE_AREA)
            gnuplot_script_put(canvas->script,
                               "using 1:2:3 with filledcurves fillstyle solid 0.85 noborder "
                               "fillcolor rgb \"#%06x\" ",
                               color);
        else if (series->look == FIGURE_BARS)
            gnuplot_script_put(canvas->script,
                               "using 1:2:3 with boxes fillstyle solid 0.85 noborder "
                               "fillcolor rgb \"#%06x\" ",
                               color);
        else
            put_line_look(canvas, s);
        bool named = series->name && !series->second;
        gnuplot_script_put(canvas->script, named ? "title " : "notitle");
        if (named)
            gnuplot_script_quote(canvas->script, series->name, canvas_legend_characters(canvas));
    }
    canvas_dimension_names(canvas);
}
